"""A question's model in Keras, unchanged, on each of Keras's backends: its variables are found, its dropout is off."""

import re
from contextlib import contextmanager, nullcontext
from types import SimpleNamespace

import keras
import numpy as np
from keras import ops

from suite.workloads import trees
from suite.workloads.questions.models import kind_of

STATISTICS = "moving_"  # how the variables of a norm's running statistics begin


def code(make, of_inputs, loss, optimizer, labels):
    """`make` returns the model, `of_inputs` makes its arguments from named tensors, `loss` a scalar of its outputs and
    the arguments, among which are the `labels`, and `optimizer` returns Keras's. The model takes its inputs as Keras's
    trainer gives them: one as it is, several by their names."""

    def model(arguments):
        made = without_dropout(make())
        made(trees.mapped(symbolic, split(takes(made, arguments), arguments)[0]))  # makes variables that it lacks yet
        return made

    def takes(model, arguments):
        """Returns the names of the inputs that the model takes, which `split` divides them by."""
        inputs = getattr(model, "inputs", None) or ()  # of a functional model; others take what the loss doesn't
        return {tensor.name for tensor in inputs} & arguments.keys() or arguments.keys() - {*labels}

    def split(named, arguments):
        x = {name: value for name, value in arguments.items() if name in named}
        y = {name: value for name, value in arguments.items() if name in labels}
        return (next(iter(x.values())) if len(x) == 1 else x), y

    def with_loss(model):
        """Returns the model, which now takes the file's loss, and the penalties of its own layers."""

        def compute_loss(x=None, y=None, y_pred=None, sample_weight=None, training=True):
            return sum(model.losses, loss(y_pred, y, mean_cube))

        model.compute_loss = compute_loss
        return model

    return SimpleNamespace(
        model=model,
        of_inputs=of_inputs,
        takes=takes,
        split=split,
        with_loss=with_loss,
        optimizer=optimizer,
        names=names,
    )


def symbolic(value):
    is_array = hasattr(value, "shape")
    return keras.KerasTensor(value.shape, keras.backend.standardize_dtype(value.dtype)) if is_array else value


def tree(outputs):
    return outputs


def mean_cube(x):
    is_real = keras.backend.standardize_dtype(x.dtype).startswith(("float", "bfloat"))
    return ops.mean(ops.abs(x) ** 3) if is_real else None


def without_dropout(model):
    """Turns off dropout, in layers of that name and where a layer has it in an attribute, as an LSTM has."""
    for layer in model._flatten_layers():
        for name, value in list(vars(layer).items()):
            drops = "drop" in name or (name == "rate" and "drop" in type(layer).__name__.lower())
            if drops and isinstance(value, float):
                setattr(layer, name, 0.0)
    return model


def names(model):
    """Returns the names of a model's weights, in their order. Keras numbers the layers of a process (`dense_7`): here
    each is numbered among those of its kind in the model."""
    owners, found = {}, []
    for variable in model.weights:
        *owner, leaf = variable.path.removeprefix(f"{model.name}/").split("/")
        kind = ".".join(re.sub(r"_\d+$", "", part) for part in owner)
        same = owners.setdefault(kind, [])
        if owner not in same:
            same.append(owner)
        number = same.index(owner)
        found.append(".".join(filter(None, (f"{kind}_{number}" if number else kind, leaf))))
    return found


def leaves(make, arguments, labels):
    """Returns the model's weights and the running statistics of its norms, as ModelLeaf has them."""
    model = code(make, dict, None, None, labels).model(arguments)
    trained = {id(variable) for variable in model.trainable_variables}
    kinds = {id(v): kind_of(type(layer).__name__) for layer in model._flatten_layers() for v in own_weights(layer)}
    found = []
    for name, variable in zip(names(model), model.weights, strict=True):
        if id(variable) in trained or (variable.trainable is False and variable.name.startswith(STATISTICS)):
            value = ops.convert_to_numpy(variable.value).reshape(-1)
            constant = float(value[0]) if value.size and (value == value[0]).all() else None
            kind = kinds.get(id(variable), "other")
            shape, dtype = tuple(variable.shape), keras.backend.standardize_dtype(variable.dtype)
            found.append((name, id(variable) in trained, shape, dtype, constant, None, kind))
    return found


def own_weights(layer):
    return (*layer._trainable_variables, *layer._non_trainable_variables)


class exact:  # called like a function
    """The model in float64, on the host and uncompiled. `values` are those of its weights and statistics."""

    def __init__(self, make, of_inputs, loss, optimizer, labels, values, batch):
        with in_float64():
            form = code(make, of_inputs, loss, optimizer, labels)
            inputs = of_inputs({name: ops.convert_to_tensor(value) for name, value in batch.items()})
            self.model = form.with_loss(form.model(inputs))
            self.model.compile(optimizer=None)
            self.x, self.y = form.split(form.takes(self.model, inputs), inputs)
            self.trained = [*self.model.trainable_variables]
            named = dict(zip(names(self.model), self.model.weights, strict=True))
            self.held = {name: named[name] for name in values}
            for name, variable in self.held.items():
                variable.assign(values[name])
            self.optimizer = optimizer() if optimizer else None
            self.check(self.trained)

    def check(self, values):
        if narrow := {kind for each in values if (kind := keras.backend.standardize_dtype(each.dtype)) == "float32"}:
            raise NotImplementedError(f"a layer of the model computes in {narrow.pop()} whatever Keras's policy is")

    def output(self):
        with in_float64():
            outputs = self.model(self.x, training=False)
            self.check([leaf for _, leaf in trees.leaves(outputs)])
            return trees.mapped(lambda leaf: np.array(ops.convert_to_numpy(leaf)), outputs)

    def step(self):
        """Takes a step. Returns the loss and the gradients of its parameters."""
        with in_float64():
            loss, gradients = GRADIENTS[keras.backend.backend()](self.model, self.trained, self.x, self.y)
            named = {id(variable): gradient for variable, gradient in zip(self.trained, gradients, strict=True)}
            of = {
                name: np.array(ops.convert_to_numpy(named[id(variable)]))
                for name, variable in self.held.items()
                if id(variable) in named
            }
            if self.optimizer:
                self.optimizer.apply(gradients, self.trained)
            return float(ops.convert_to_numpy(loss)), of

    def values(self):
        return {name: np.array(ops.convert_to_numpy(variable.value)) for name, variable in self.held.items()}


def of_jax(model, trained, x, y):
    import jax

    others = model.non_trainable_variables
    loss = jax.value_and_grad(model.compute_loss_and_updates, has_aux=True)
    values = [[variable.value for variable in each] for each in (trained, others)]
    (total, (_, _, after, _)), gradients = loss(*values, [], x, y, None, training=True, optimizer_variables=[])
    for variable, value in zip(others, after, strict=True):
        variable.assign(value)
    return total, gradients


def of_torch(model, trained, x, y):
    model.zero_grad(set_to_none=True)
    total = model.compute_loss(x, y, model(x, training=True))
    total.backward()
    gradients = [variable.value.grad for variable in trained]
    zeros = (ops.zeros_like(variable.value) for variable in trained)
    return total.detach(), [zero if of is None else of for zero, of in zip(zeros, gradients, strict=True)]


def of_tensorflow(model, trained, x, y):
    import tensorflow as tf

    with tf.GradientTape() as tape:
        total = model.compute_loss(x, y, model(x, training=True))
    gradients = tape.gradient(total, [variable.value for variable in trained], unconnected_gradients="zero")
    return total, [tf.convert_to_tensor(gradient) for gradient in gradients]


GRADIENTS = {"jax": of_jax, "torch": of_torch, "tensorflow": of_tensorflow}


@contextmanager
def in_float64():
    """Keras's own float64; on JAX, which has it only where it is switched on, on the host."""
    context = nullcontext()
    if keras.backend.backend() == "jax":
        from suite.workloads.questions.dialects.model_jax import in_float64 as wide_jax

        context = wide_jax()
    before = keras.config.floatx(), keras.config.dtype_policy()
    with context:
        keras.config.set_floatx("float64")
        keras.config.set_dtype_policy("float64")
        try:
            yield
        finally:
            keras.config.set_floatx(before[0])
            keras.config.set_dtype_policy(before[1])
