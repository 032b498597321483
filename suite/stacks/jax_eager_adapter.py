"""JAX op by op: no jit around the step, each primitive dispatched by itself as the primer times it."""

from __future__ import annotations

import numpy as np

from suite import protocol
from suite.stacks import base
from suite.stacks.threads import cuda_environ, thread_environ

PRODUCTS = {"f32": "highest", "tf32": "tensorfloat32", "bf16": "bfloat16"}


class CompileCounter:
    """Compiles and their seconds (trace, lower and backend) from JAX's own monitoring events."""

    def __init__(self, jax):
        self.compiles = 0
        self.seconds = 0.0
        jax.monitoring.register_event_duration_secs_listener(self.count)

    def count(self, event, seconds, **_):
        if event.startswith("/jax/core/compile/"):
            self.seconds += seconds
            self.compiles += event.endswith("backend_compile_duration")

    def read(self):
        return {"compiles": self.compiles, "compile_seconds": self.seconds,
                "graph_breaks": None, "fallback_ops": None}  # fmt: skip


def environ(case, cache_directory):
    """JAX's variables, for every stack that computes with it."""
    variables = thread_environ(case.threads) | cuda_environ(case.target) | {
        "JAX_PLATFORMS": case.target,
        "JAX_ENABLE_X64": "0",
        # Of products of float32, convolutions too. JAX's default is TF32 on GPUs and bfloat16 on TPUs.
        "JAX_DEFAULT_MATMUL_PRECISION": PRODUCTS[case.precision],
    }
    if case.target == "cuda":
        variables["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"  # else peak memory is the pool's size
    if case.cache == "warm":  # without a directory JAX keeps no cache
        variables |= {
            "JAX_COMPILATION_CACHE_DIR": f"{cache_directory}/jax",
            # Everything is kept: JAX's defaults skip what compiled in under a second.
            "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
            "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
        }
    return variables


def find_devices(adapter):
    """The target's devices, for every stack that computes with JAX."""
    try:
        devices = adapter.jax.devices()
    except RuntimeError as missing:
        raise adapter.no_device(missing) from missing
    except AssertionError as missing:  # all that JAX says where no NVIDIA GPU is visible
        raise adapter.no_device("JAX sees no NVIDIA GPU") from missing
    if adapter.case.target == "cuda":
        adapter.require_tf32([int(number) for number in devices[0].compute_capability.split(".")])
    return devices


def make_optimizer(optax, name):
    """optax's optimizer with the protocol's constants."""
    if name == "sgd":
        return optax.sgd(protocol.LEARNING_RATE, momentum=protocol.MOMENTUM)
    return optax.adamw(
        protocol.LEARNING_RATE, b1=protocol.BETA1, b2=protocol.BETA2, eps=protocol.EPSILON,
        weight_decay=protocol.WEIGHT_DECAY,
    )  # fmt: skip


class Adapter(base.Adapter):
    """State: (parameters, buffers, optimizer state), pytrees; most workloads have no buffers."""

    packages = ("jax", "jaxlib", "libtpu", "optax", "numpy")

    @staticmethod
    def environ(case, cache_directory):
        return environ(case, cache_directory)

    def __init__(self, case, workload):
        super().__init__(case, workload)
        import jax
        import optax

        self.jax = jax
        self.optax = optax
        self.compiles = CompileCounter(jax)

    def device(self):
        devices = find_devices(self)
        asynchronous = self.jax.config.values.get("jax_cpu_enable_async_dispatch")
        return {"device": devices[0].device_kind, "devices": len(devices), "async_dispatch": asynchronous}

    def matmul(self, a, b):
        product = self.compile(self.in_precision(self.jax.numpy.matmul))
        return np.array(product(self.jax.device_put(a), self.jax.device_put(b)))

    def in_precision(self, function):
        """bf16: what comes in becomes bfloat16, results float32; so do gradients, through the cast. On a CPU, asking
        for bfloat16 products of float32 (JAX's dot algorithms) changes nothing."""
        if self.case.precision != "bf16":
            return function
        return lambda *arguments, **named: self.cast(function(*self.low(arguments), **self.low(named)), "float32")

    def low(self, tree):
        """A tree as the step computes with it."""
        return self.cast(tree, "bfloat16") if self.case.precision == "bf16" else tree

    def cast(self, tree, dtype):
        jnp = self.jax.numpy
        return self.jax.tree.map(
            lambda x: x.astype(dtype) if jnp.issubdtype(jnp.result_type(x), jnp.floating) else x, tree
        )

    def build(self, abstract=False):
        dialect, dims = self.workload.dialect("jax"), self.dims
        # A `loss` that calls `forward` finds it by this name: its logits are float32 again.
        dialect.forward = self.in_precision(dialect.forward)

        def forward(parameters, buffers, batch):
            state = (parameters, buffers) if self.buffers else (parameters,)
            return dialect.forward(dims, *state, **batch)

        def loss(parameters, buffers, batch):
            # Target and running statistics stay as they are.
            parameters, batch = self.low(parameters), self.low(batch) | {"target": batch["target"]}
            if self.buffers:
                loss, buffers = dialect.loss(dims, parameters, buffers, **batch)
            else:
                loss = dialect.loss(dims, parameters, **batch)
            return loss.astype("float32"), buffers

        self.forward, self.loss = forward, loss
        self.loss_and_gradients = self.jax.value_and_grad(self.loss, has_aux=True)
        self.transform = make_optimizer(self.optax, self.optimizer)
        self.run = self.train_step if self.train else self.forward_step

    def forward_step(self, state, batch):
        parameters, buffers, _ = state
        return state, self.forward(parameters, buffers, batch)

    def train_step(self, state, batch):
        parameters, buffers, moments = state
        (loss, buffers), gradients = self.loss_and_gradients(parameters, buffers, batch)
        if not self.optimizer:
            return state, (loss, gradients)
        parameters, moments = self.apply(parameters, moments, gradients)
        return (parameters, buffers, moments), loss

    def apply(self, parameters, moments, gradients):
        updates, moments = self.transform.update(gradients, moments, parameters)
        return self.optax.apply_updates(parameters, updates), moments

    def place(self, parameters, batch):
        put = self.jax.device_put
        own = {name: put(value) for name, value in parameters}
        buffers = base.nested({name: own.pop(name) for name in self.buffers})
        own = base.nested(own)
        moments = self.transform.init(own) if self.train and self.optimizer else ()
        return self.jax.block_until_ready(((own, buffers, moments), {name: put(value) for name, value in batch}))

    def step(self, state, batch):
        return self.run(state, batch)

    def wait(self, state, outputs):
        self.jax.block_until_ready((state, outputs))

    def fetch(self, outputs):
        # np.array copies: np.asarray of a CPU array is a read-only alias of the device's buffer.
        return np.array(outputs[0] if isinstance(outputs, tuple) else outputs)

    def read(self, what, state, batch):
        parameters, buffers, _ = state
        if what == "parameters":
            return {**self.host(parameters), **self.host(buffers)}
        if what == "output":
            inputs = {name: value for name, value in batch.items() if name != "target"}
            return {"output": np.asarray(self.compile(self.forward)(parameters, buffers, inputs))}
        (loss, _), gradients = self.compile(self.loss_and_gradients)(parameters, buffers, batch)
        return {"loss": np.asarray(loss), **self.host(gradients)}

    def host(self, tree):
        return {name: np.asarray(value) for name, value in base.flat(tree).items()}

    def compile(self, function):
        """How this stack runs a function: as it is."""
        return function

    def update(self, parameters, gradients):
        own = self.jax.device_put(base.nested(parameters))
        moments = self.transform.init(own)
        apply = self.compile(self.apply)
        for injected in gradients:
            own, moments = apply(own, moments, self.jax.device_put(base.nested(injected)))
        return self.host(own)

    def counters(self):
        return self.compiles.read()

    def memory(self):
        figures = self.jax.local_devices()[0].memory_stats() or {}
        return {"device_peak_bytes": figures.get("peak_bytes_in_use"),
                "device_reserved_bytes": figures.get("peak_pool_bytes")}  # fmt: skip
