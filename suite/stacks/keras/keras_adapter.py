"""Keras 3 on any backend: model, loss, optimizer and step are Keras's; device, threads, precision of products, counters
and memory are the native stack's, from whose adapter a backend's class derives, too.

What is timed is the trainer's own function: `predict_function` and `train_function`. `train_on_batch` and
`predict_on_batch` call the same functions, but copy the result to the host in every call, and on JAX the whole state
into the model's variables; `fit` has callbacks, progress bars and a data pipeline around them. The native stacks do
none of that. A workload without an optimizer, which Keras's trainer can't train, has Keras's loss and the framework's
gradient.
"""

from __future__ import annotations

from suite import protocol
from suite.stacks import base
from suite.stacks.catalog import environment_of
from suite.stacks.knobs import Knob
from suite.workloads import trees

JIT = Knob("jit_compile=True", "by default PyTorch is eager, TensorFlow without XLA", ("cpu",))
OWN = {"adamw": "keras_adamw"}  # Keras's formula where it isn't the paper's
# Keras's names of variables and layers, as ours.
NAMES = {
    "kernel": "weight",
    "gamma": "weight",
    "embeddings": "weight",
    "beta": "bias",
    "moving_mean": "running_mean",
    "moving_variance": "running_var",
    "attention_output": "out",
}


class OnBackend(base.Adapter):
    """A process in which Keras computes by the framework whose native stack a class derives from, too. A question's
    function of `keras.ops` runs as that stack runs its own, which is how Keras runs a model: by jit on JAX, by
    tf.function on TensorFlow, and uncompiled on PyTorch."""

    backend: str
    of_models: type  # the class that runs a question's own Keras model

    @classmethod
    def of(cls, workload):
        return cls.of_models if workload.has_model else super().of(workload)

    @classmethod
    def environ(cls, case, cache_directory):
        # An empty home, since a user's keras.json may set other types and layouts.
        home = {"KERAS_BACKEND": cls.backend, "KERAS_HOME": f"{cache_directory}/keras"}
        return super().environ(case, cache_directory) | home

    def __init__(self, case, workload):
        super().__init__(case, workload)
        try:
            import keras
        except ModuleNotFoundError as missing:
            if missing.name != "keras":
                raise
            environment = environment_of(case.stack, case.variant)
            raise base.Unsupported(f"the environment {environment} has no Keras") from missing
        self.keras = keras


class KerasAdapter(OnBackend):
    """State: the model, updated in place, but on JAX. A backend's class says how gradients are taken, how a moment
    begins anew (`renew`), and how an input is put on the device."""

    family = "keras"

    def __init__(self, case, workload):
        super().__init__(case, workload)
        self.optimizer = OWN.get(self.optimizer, self.optimizer)
        self.keras.config.set_dtype_policy("mixed_bfloat16" if case.precision == "bf16" else "float32")

    def device(self):
        compiles = {"jit_compile": self.compiled(self.keras.Sequential()).jit_compile}
        return super().device() | compiles | ({"optimizer": self.optimizer} if self.optimizer else {})

    def compiled(self, model, **settings):
        """Returns a model that is compiled as Keras decides, or with the tuned track's setting."""
        model.compile(**settings, jit_compile=True if JIT.name in self.tuned else "auto")
        return model

    def matmul(self, a, b):
        layers = self.keras.layers
        model = self.keras.Sequential([layers.Input([len(b)]), layers.Dense(b.shape[1], use_bias=False)])
        model.layers[0].kernel.assign(b)
        return base.plain(self.compiled(model).predict_on_batch(a))

    def make_model(self, dialect):
        return self.new_model(dialect)

    def new_model(self, dialect):
        return dialect.model(**base.taken(dialect.model, self.dims))

    def loss(self, dialect):
        return dialect.loss()

    def build(self, abstract=False):
        if abstract:
            raise base.Unsupported("Keras makes a model's variables with their values, so not on shapes alone")
        dialect = self.code()
        self.names = getattr(dialect, "NAMES", {})  # of layers whose variables have other names than ours
        self.model = self.make_model(dialect)
        self.variables = self.named_variables()
        host, named = self.keras.ops.convert_to_numpy, {id(variable) for variable in self.variables.values()}
        # Seeds of layers that could draw numbers: state, but no weights.
        self.seeds = [(v, host(v.value)) for v in self.model.non_trainable_variables if id(v) not in named]
        self.trained = [self.canonical_name(variable.path) for variable in self.model.trainable_variables]
        updates = self.train and self.optimizer
        self.compiled(
            self.model,
            optimizer=self.make_optimizer() if updates else None,
            loss=self.loss(dialect) if self.train else None,
        )
        if updates:
            self.model.optimizer.build(self.model.trainable_variables)
            vars(self.model)["_loss_tracker"] = last_loss(self.keras)  # untracked, as `compile` has its own
            self.model.make_train_function()
        self.model.make_predict_function()

    def named_variables(self):
        named = {self.canonical_name(variable.path): variable for variable in self.model.weights}
        if unlike := sorted(named.keys() ^ {*self.tensors.parameters, *self.tensors.buffers}):
            raise ValueError(f"the model and the spec don't both have {unlike[0]}")
        return named

    def canonical_name(self, path):
        """Returns our name of a Keras variable: `b` of `b/kernel`, `x` of a model's own, `blocks.0.up.weight` of
        `blocks_0_up/kernel`, since on PyTorch a layer's name can't have a dot."""
        path = path.removeprefix(f"{self.model.name}/")
        if path in self.names:
            return self.names[path]
        ours = {name.replace(".", "_"): name for name in (*self.tensors.parameters, *self.tensors.buffers)}
        name = "_".join(NAMES.get(part, part) for part in path.split("/"))
        return ours.get(name) or ours.get(name.removesuffix("_weight"), name)

    def make_optimizer(self):
        optimizers = self.keras.optimizers
        if self.optimizer == "sgd":
            return optimizers.SGD(protocol.LEARNING_RATE, momentum=protocol.MOMENTUM)
        return optimizers.AdamW(
            protocol.LEARNING_RATE,
            weight_decay=protocol.WEIGHT_DECAY,
            beta_1=protocol.BETA1,
            beta_2=protocol.BETA2,
            epsilon=protocol.EPSILON,
        )

    def moments(self):
        """Returns the optimizer's variables, by the names of `read`."""
        optimizer = self.model.optimizer
        if self.optimizer == "sgd":
            kinds = {"v": optimizer.momentums}
        else:
            kinds = {"m": optimizer._momentums, "v": optimizer._velocities}
        return {
            f"{kind}/{name}": moment
            for kind, moments in kinds.items()
            for name, moment in zip(self.trained, moments, strict=True)
        }

    def reset(self, moments):
        """Begins the optimizer anew. Without `moments` it keeps no memory for them."""
        for variable in self.moments().values():
            self.renew(variable, moments)
        self.model.optimizer.iterations.assign(0)
        self.model.optimizer.learning_rate = protocol.LEARNING_RATE
        self.model.reset_metrics()

    def place(self, parameters, batch, moments=True):
        self.load(parameters)
        updates = bool(self.train and self.optimizer)
        if updates:
            self.reset(moments)
        placed = self.state(updates and moments), {name: self.put_input(name, value) for name, value in batch}
        self.wait(*placed)
        return placed

    def load(self, parameters):
        for name, value in parameters:
            variable = self.variables[name]
            variable.assign(value.reshape(variable.shape))  # heads have an axis of their own in Keras
        for variable, value in self.seeds:
            variable.assign(value)

    @staticmethod
    def split(batch):
        """Returns inputs and target as Keras takes them: one input as it is, several by their names."""
        inputs = {name: value for name, value in batch.items() if name != "target"}
        return next(iter(inputs.values())) if len(inputs) == 1 else inputs, batch.get("target")

    def state(self, updates):
        return self.model

    def step(self, state, batch):
        x, y = self.split(batch)
        if not self.train:
            return state, self.predicted(state, x)
        if not self.optimizer:
            return state, self.loss_and_gradients(state, x, y)
        return state, self.model.train_function([(x, y)])["loss"]

    def predicted(self, state, x):
        return self.model.predict_function([(x,)])

    def read(self, what, state, batch):
        x, y = self.split(batch)
        if what == "output":
            return {"output": trees.mapped(self.fetch, self.predicted(state, x))}
        host = self.keras.ops.convert_to_numpy
        if what == "gradients":
            before = {name: self.fetch(self.variables[name].value) for name in self.buffers if self.in_place}
            loss, gradients = self.loss_and_gradients(state, x, y)
            for name, value in before.items():  # the loss has updated running statistics, which reading must not change
                self.variables[name].assign(value)
            named = zip(self.trained, map(host, gradients), strict=True)
            return {"loss": base.plain(host(loss)), **{name: self.canonical(name, value) for name, value in named}}
        held = self.held(state)
        if what == "parameters":
            return {name: self.canonical(name, host(held(variable))) for name, variable in self.variables.items()}
        # Keras's momentum is -lr times ours.
        scale = -1.0 / protocol.LEARNING_RATE if self.optimizer == "sgd" else 1.0
        read = {name: host(held(variable)) for name, variable in self.moments().items()}
        return {name: scale * self.canonical(name.partition("/")[2], value) for name, value in read.items()}

    def canonical(self, name, value):
        tensors = self.tensors.parameters | self.tensors.buffers
        return value.reshape(tensors[name].shape)

    in_place = True  # whether a step changes the model's own variables

    def held(self, state):
        """Returns a function that gives a variable's array in the state."""
        return lambda variable: variable.value

    def update(self, parameters, gradients):
        keras = self.keras
        variables = {name: keras.Variable(value, name=name) for name, value in parameters.items()}
        optimizer = self.make_optimizer()
        for injected in gradients:
            pairs = [(keras.ops.convert_to_tensor(injected[name]), variable) for name, variable in variables.items()]
            optimizer.apply_gradients(pairs)
        return {name: keras.ops.convert_to_numpy(variable.value) for name, variable in variables.items()}


def last_loss(keras):
    """Returns the metric of a step's own loss, in place of the mean over an epoch that Keras prints."""

    class LastLoss(keras.metrics.Mean):
        def update_state(self, values, sample_weight=None):
            self.total.assign(values)
            self.count.assign(1)

    return LastLoss(name="loss")
