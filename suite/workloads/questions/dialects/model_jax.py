"""A question's model in JAX, unchanged: its parameters are found, its dropout is off, its results are trees. What
differs between libraries stands in modules_jax.py."""

import math
from contextlib import ExitStack
from functools import partial
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np

from suite.stacks import base
from suite.workloads import trees
from suite.workloads.questions.dialects.modules_jax import opened
from suite.workloads.questions.dialects.question_jax import mean_cube
from suite.workloads.questions.dialects.recorded_jax import recorded
from suite.workloads.questions.models import as_tree, kind_of, taken

ARRAYS = (jax.Array, np.ndarray)


def leaves(make, arguments, labels):
    """Returns the parameters and the buffers, as ModelLeaf has them. `arguments` are whatever has a shape and a type,
    and plain values."""
    examples = trees.mapped(
        lambda leaf: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype) if hasattr(leaf, "shape") else leaf, arguments
    )
    with on_host():
        model = opened(make(), examples)

    def kind(name):
        owner = name.rpartition(".")[0]
        return kind_of(model.kinds.get(owner, owner.rpartition(".")[2]))  # linen's modules are called like their class

    return [
        (name, trained, *described(value), model.fan_in.get(name), kind(name))
        for trained, of in ((True, model.parameters), (False, model.buffers))
        for name, value in of.items()
    ]


def described(value):
    elements = np.asarray(value).reshape(-1)
    constant = float(elements[0].real) if elements.size and (elements == elements[0]).all() else None
    return value.shape, str(value.dtype), constant


def code(make, of_inputs, loss, optimizer, labels):
    """`make` returns the module, `of_inputs` makes its arguments from named arrays, among which are the `labels` of the
    loss. With buffers, the loss comes with what training makes of them."""
    with on_host():
        return form_of(opened(make()), of_inputs, loss, optimizer, labels)


def form_of(model, of_inputs, loss, optimizer, labels):
    def forward(dims, parameters, buffers=None, /, **inputs):
        arguments = taken(model.takes, of_inputs(inputs), labels)
        return tree(model.call(parameters, buffers or {}, arguments, training=False)[0])

    def scalar(dims, parameters, buffers=None, /, **inputs):
        arguments = of_inputs(inputs)
        outputs, after = model.call(parameters, buffers or {}, taken(model.takes, arguments, labels), training=True)
        total = loss(outputs, arguments, mean_cube)
        return total if buffers is None else (total, after)

    return SimpleNamespace(forward=forward, loss=scalar, optimizer=optimizer)


def exact(make, of_inputs, loss, optimizer, labels, values, batch):
    """Returns the same module in float64, on the host and without compiling: its `output()`; `step()`, which returns
    the loss and the gradients by name and takes the optimizer's step, if there is one; and the `values()` of its
    parameters and buffers. Raises NotImplementedError for a module that computes in another type."""
    with in_float64():
        inputs = {name: jnp.asarray(value) for name, value in batch.items()}
        model = opened(make(), of_inputs(inputs), wide=True)
        form = form_of(model, of_inputs, loss, optimizer, labels)
        parameters, buffers = (
            base.nested({name: jnp.asarray(values[name]) for name in of}) for of in (model.parameters, model.buffers)
        )
        transform = optimizer() if optimizer else None
        held = SimpleNamespace(parameters=parameters, buffers=buffers)
        held.moments = transform.init(parameters) if transform else None

    def output():
        with in_float64():
            return trees.mapped(np.asarray, wide(form.forward({}, held.parameters, held.buffers, **inputs)))

    def step():
        with in_float64():
            (total, held.buffers), gradients = jax.value_and_grad(
                lambda parameters: form.loss({}, parameters, held.buffers, **inputs), has_aux=True
            )(held.parameters)
            wide({"loss": total})
            if transform:
                updates, held.moments = transform.update(gradients, held.moments, held.parameters)
                held.parameters = jax.tree.map(jnp.add, held.parameters, updates)
            named = base.flat(jax.tree.map(np.conj, gradients))  # as the other frameworks define a complex one
            return float(total), {name: np.asarray(gradient) for name, gradient in named.items()}

    def current():
        named = base.flat(held.parameters) | base.flat(held.buffers)
        return {name: np.asarray(value) for name, value in named.items()}

    def calls(training):
        with in_float64(), recorded() as found:
            arguments = taken(model.takes, of_inputs(inputs), labels)
            outputs, _ = model.call(held.parameters, held.buffers, arguments, training=training)
        return [
            (path, kind_of(kind), [*map(np.asarray, arrays)], trees.mapped(np.asarray, as_tree(results, ARRAYS)))
            for path, kind, arrays, results in [*found, ("", "other", [*inputs.values()], outputs)]
        ]

    def flops():
        with in_float64():
            return flops_of(jax.make_jaxpr(partial(form.forward, {}))(held.parameters, held.buffers, **inputs).jaxpr)

    return SimpleNamespace(output=output, step=step, values=current, calls=calls, flops=flops)


def flops_of(jaxpr):
    """Returns the FLOPs of the matrix products and convolutions of a program, as PyTorch's counter counts them: of a
    transposed convolution by its input, of a branch the larger side, of a loop without a known length one turn."""
    total = 0
    for equation in jaxpr.eqns:
        name, parameters = equation.primitive.name, equation.params
        outputs = sum(out.aval.size for out in equation.outvars if hasattr(out.aval, "size"))
        if name == "dot_general":
            (contracted, _), _ = parameters["dimension_numbers"]
            shape = equation.invars[0].aval.shape
            total += 2 * outputs * math.prod(shape[axis] for axis in contracted)
        elif name == "conv_general_dilated":
            kernel, filters = equation.invars[1].aval, parameters["dimension_numbers"].rhs_spec[0]
            each = kernel.size // kernel.shape[filters]
            total += 2 * outputs * each // math.prod(parameters["lhs_dilation"])
        else:
            given = [each for value in parameters.values() for each in (value if type(value) is tuple else (value,))]
            bodies = [getattr(each, "jaxpr", each) for each in given if hasattr(each, "eqns") or hasattr(each, "jaxpr")]
            turns = parameters["length"] if name == "scan" else 1
            total += turns * (max if name == "cond" else sum)([flops_of(body) for body in bodies] or [0])
    return total


def wide(results):
    """Returns results. Raises NotImplementedError if one has less than 64 bits."""
    for name, leaf in trees.leaves(results):
        if jnp.issubdtype(leaf.dtype, jnp.inexact) and leaf.dtype not in (jnp.float64, jnp.complex128):
            raise NotImplementedError(
                f"with weights and inputs in float64 the model's {name or 'output'} is {leaf.dtype}, so that it has no "
                "float64 to be compared with"
            )
    return results


def tree(result):
    return as_tree(result, jax.Array)


def in_float64():
    """JAX's own float64, on the host."""
    contexts = on_host()
    contexts.enter_context(jax.enable_x64(True))  # noqa: FBT003
    contexts.enter_context(jax.default_matmul_precision("highest"))
    return contexts


def on_host():
    """Arrays are made on the host, so that those of a new module take none of the device's memory."""
    contexts = ExitStack()
    contexts.enter_context(jax.default_device(jax.local_devices(backend="cpu")[0]))
    return contexts
