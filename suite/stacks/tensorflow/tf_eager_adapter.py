"""TensorFlow eager: the tf.Module as written, every operation dispatched to its kernel."""

from __future__ import annotations

import functools
import platform

import numpy as np

from suite import protocol
from suite.stacks import base, kernels
from suite.stacks.tensorflow.tf_optimizers import OPTIMIZERS, renew
from suite.workloads import trees

# The products whose operands are bfloat16 in bf16. Models call them by these public names.
PRODUCTS = (
    "matmul",
    "linalg.matmul",
    "einsum",
    "linalg.einsum",
    "tensordot",
    "nn.convolution",
    "nn.conv1d",
    "nn.conv2d",
    "nn.conv3d",
    "nn.depthwise_conv2d",
)

PART = 1 << 22  # values written to a variable at a time


class Adapter(base.Adapter):
    """State: (model, optimizer or None); the optimizer's moments are tf.Variables like the weights."""

    family = "tf"
    token = None  # the compiled call, of which a step makes many, where the dialect has a loop
    packages = ("tensorflow", "tensorflow-cpu", "tensorflow-tpu", "libtpu", "numpy")  # a build for each target

    @classmethod
    def environ(cls, case, cache_directory):
        variables = super().environ(case, cache_directory) | {
            "TF_NUM_INTEROP_THREADS": str(case.threads),  # the default, stated
            "TF_CPP_MIN_LOG_LEVEL": "1",
        }
        if platform.machine() == "x86_64":  # its default, stated; on ARM TensorFlow decides by the core
            variables["TF_ENABLE_ONEDNN_OPTS"] = "1"
        if case.target == "cuda":
            variables["TF_FORCE_GPU_ALLOW_GROWTH"] = "true"
        return variables

    def __init__(self, case, workload):
        super().__init__(case, workload)
        import tensorflow as tf

        self.tf = tf
        tf.config.experimental.enable_tensor_float_32_execution(case.precision == "tf32")
        self.mix(case.precision == "bf16")
        tf.config.threading.set_intra_op_parallelism_threads(case.threads)
        tf.config.threading.set_inter_op_parallelism_threads(case.threads)

    def mix(self, mixed):
        """Sets TensorFlow's products for this process. If `mixed`, they cast their operands to bfloat16 and their
        results to float32, as a user would write around each product, and so do their gradients; else they are
        TensorFlow's own. TensorFlow has no autocast for tf.Modules.

        The whole process changes, because a dialect file looks `tf.matmul` up in TensorFlow itself. A worker has one
        case and so one precision. The one exception is the gate's last check, which builds the step in float32: with
        that, the products are TensorFlow's own again.
        """
        for path in PRODUCTS:
            parent = functools.reduce(getattr, path.split(".")[:-1], self.tf)
            name = path.rpartition(".")[2]
            product = getattr(parent, name)
            product = getattr(product, "unmixed", product)
            setattr(parent, name, self.mixed(product) if mixed else product)

    def mixed(self, product):
        tf = self.tf

        def cast(value):
            floating = tf.is_tensor(value) and value.dtype == tf.float32
            return tf.cast(value, tf.bfloat16) if floating else value

        @functools.wraps(product)
        def call(*operands, **named):
            operands, named = map(cast, operands), {name: cast(value) for name, value in named.items()}
            return tf.cast(product(*operands, **named), tf.float32)

        call.unmixed = product
        return call

    def device(self):
        tf, kind = self.tf, {"cpu": "CPU", "cuda": "GPU", "tpu": "TPU"}[self.case.target]
        if kind == "TPU":
            self.start_tpu()
        devices = tf.config.list_logical_devices(kind)
        if not devices:
            raise self.no_device(f"TensorFlow lists no {kind}")
        self.logical = devices[0]
        details = tf.config.experimental.get_device_details(tf.config.list_physical_devices(kind)[0])
        if kind == "GPU":
            self.require_tf32(details["compute_capability"])
        return {
            "device": details.get("device_name", self.logical.name),
            "tf_intra_op": tf.config.threading.get_intra_op_parallelism_threads(),
            "tf_inter_op": tf.config.threading.get_inter_op_parallelism_threads(),
        }

    def start_tpu(self):
        tf = self.tf
        try:
            tf.distribute.cluster_resolver.TPUClusterResolver.connect("local")  # this machine's own
        except (tf.errors.OpError, RuntimeError) as missing:
            raise self.no_device(missing) from missing
        # TensorFlow chooses a GPU by itself, but a TPU must be named: here it is, for the rest of the process.
        tf.device("/device:TPU:0").__enter__()

    def matmul(self, a, b):
        tf = self.tf
        product = self.compile(tf.matmul, tf.TensorSpec(a.shape), tf.TensorSpec(b.shape))
        return product(tf.constant(a), tf.constant(b)).numpy()

    def build(self, abstract=False):
        self.dialect = self.code()
        self.model = self.make_model(self.dialect)
        named = {v.name.removesuffix(":0"): v for v in self.model.variables}
        wanted = self.tensors.parameters | self.tensors.buffers
        trained = [name for name, v in named.items() if v.trainable]
        for ours, theirs, where in ((wanted, named, "model's variables"), (trained, wanted, "spec's parameters")):
            if lacking := [name for name in ours if name not in theirs]:
                raise ValueError(f"{lacking[0]} isn't among the {where}: {', '.join(theirs) or 'none'}")
        self.kept = {name: named.pop(name) for name in self.buffers}
        self.variables = {name: v for name, v in named.items() if v.trainable}
        with_target = {name: self.signature(tensor) for name, tensor in self.tensors.batch.items()}
        shapes = {name: signature for name, signature in with_target.items() if name != "target"}
        self.updater = self.make_optimizer(self.variables) if self.train and self.optimizer else None
        if hasattr(self.dialect, "loop"):
            self.token = self.compile(self.model.__call__, *shapes.values())
            self.forward = self.looped
        else:
            self.forward = self.compile(lambda batch: self.model(**batch), shapes)
        self.loss_and_gradients = self.compile(self.gradients_of_loss, with_target)
        self.call = self.compile(self.train_step, with_target) if self.updater else self.loss_and_gradients

    def looped(self, batch):
        """The forward pass of a dialect whose loop is Python: only the calls in it are compiled."""
        self.model.start()
        return self.dialect.loop(self.token, **batch)

    def signature(self, tensor):
        return self.tf.TensorSpec(tensor.shape, tensor.dtype)

    def make_optimizer(self, variables):
        return OPTIMIZERS[self.optimizer](self.tf, variables)

    def compile(self, function, *signature):
        """Returns a function of tensors of these shapes as this stack runs it: unchanged."""
        return function

    def put(self, value):
        return self.tf.constant(value)

    def gradients_of_loss(self, batch):
        with self.tf.GradientTape() as tape:
            loss = self.dialect.loss(self.model, **batch)
        # As in JAX, a variable that the loss doesn't depend on gets zeros; with None the step would fail.
        gradients = tape.gradient(loss, self.variables, unconnected_gradients=self.tf.UnconnectedGradients.ZERO)
        # The gradient of a table with lookups is slices. It is made dense, since AdamW moves every row on other stacks.
        return loss, {name: self.tf.convert_to_tensor(gradient) for name, gradient in gradients.items()}

    def train_step(self, batch):
        loss, gradients = self.gradients_of_loss(batch)
        self.updater.apply(gradients)
        return loss

    def place(self, parameters, batch, moments=True):
        tf = self.tf
        if self.updater and not moments:
            self.updater.release()
        variables = self.variables | self.kept
        for variable in variables.values():  # frees the model's first values before the new ones arrive
            renew(tf, variable, tf.zeros([0], variable.dtype))
        for name, value in parameters:
            renew(tf, variables[name], tf.raw_ops.Empty(shape=value.shape, dtype=variables[name].dtype))
            write(tf, variables[name], value)
        if self.updater and moments:
            self.updater.reset()
        placed = (self.model, self.updater), {name: tf.constant(value, self.types[name]) for name, value in batch}
        self.wait(*placed)
        return placed

    def step(self, state, batch):
        return state, self.call(batch) if self.train else self.forward(batch)

    def wait(self, state, outputs):
        if self.case.target == "cuda":
            with self.tf.device(self.logical.name):  # `sync_devices` would wait for the CPU and each other GPU too
                self.tf.raw_ops.SyncDevice()
        elif self.case.target == "tpu":  # on a CPU a call returns when it has computed
            self.tf.test.experimental.sync_devices()

    def fetch(self, array):
        # .numpy() copies; np.asarray of a tensor would be a read-only alias of its buffer. Here np.asarray is for
        # scalars, for which .numpy() returns no array.
        array = self.tf.convert_to_tensor(array)
        return np.asarray((self.tf.cast(array, "float32") if array.dtype == "bfloat16" else array).numpy())

    def read(self, what, state, batch):
        if what == "parameters":
            return {name: base.plain(v.numpy()) for name, v in (self.variables | self.kept).items()}
        if what == "moments":
            kinds = protocol.MOMENTS[self.optimizer]
            moments = self.updater.moments.items()
            pairs = ((f"{kind}/{n}", v) for n, values in moments for kind, v in zip(kinds, values, strict=True))
            return {name: np.asarray(v.read_value()) for name, v in pairs}
        if what == "output":
            inputs = {name: value for name, value in batch.items() if name != "target"}
            return {"output": trees.mapped(self.fetch, self.forward(inputs))}
        before = {name: variable.numpy() for name, variable in self.kept.items()}
        loss, gradients = self.loss_and_gradients(batch)
        for name, value in before.items():
            self.kept[name].assign(value)  # the loss has updated running statistics, which reading must not change
        return {"loss": base.plain(loss), **{name: base.plain(g) for name, g in gradients.items()}}

    def update(self, parameters, gradients):
        tf = self.tf
        updated = {name: tf.Variable(value, name=name) for name, value in parameters.items()}
        updater = self.make_optimizer(updated)
        shapes = {name: tf.TensorSpec(v.shape) for name, v in updated.items()}
        apply = self.compile(updater.apply, shapes)
        for injected in gradients:
            apply({name: tf.constant(g) for name, g in injected.items()})
        return {name: v.numpy() for name, v in updated.items()}

    def kernels_used(self, logs):
        # What oneDNN doesn't run, Eigen does; TensorFlow says only which instructions Eigen was *not* built for.
        return [*kernels.libraries(logs), kernels.LibraryUse("Eigen")]

    def profile(self, steps, folder):
        experimental = self.tf.profiler.experimental
        with experimental.Profile(str(folder), experimental.ProfilerOptions(host_tracer_level=2)):
            steps()
        return base.Trace("tf.profiler")

    def memory(self):
        if self.case.target == "cpu":
            return super().memory()  # TensorFlow reports 0 for CPUs: it doesn't know
        figures = self.tf.config.experimental.get_memory_info(self.logical.name.removeprefix("/device:"))
        return super().memory() | {"device_peak_bytes": figures["peak"]}


def write(tf, variable, value):
    """Writes a host array into a variable. A large array is written a few rows at a time: written whole, it would be in
    memory three times."""
    if value.size <= PART:
        variable.assign(value)
        return
    rows = max(1, PART * len(value) // value.size)
    for start in range(0, len(value), rows):
        variable[start : start + rows].assign(value[start : start + rows])
    # Else each later read of a variable that was written by parts would be a copy.
    tf.raw_ops.DisableCopyOnRead(resource=variable.handle)
