"""JAX op by op: the step isn't inside a jit, and each call of jax.numpy is dispatched by itself, as the primer times
it. JAX itself compiles some of its functions whole: `var`, for example, is one program of twelve primitives."""

from __future__ import annotations

from functools import partial

import numpy as np

from suite.stacks import base
from suite.stacks.jax import jax_steps
from suite.stacks.jax.jax_runtime import JaxAdapter, Loop, conjugate
from suite.workloads import trees


def optax_of(case, workload):
    """Returns optax, which only a step with an optimizer needs, else None. Raises Unsupported where it is needed and
    isn't installed, as in an interpreter of the user's own."""
    if case.pass_ != "train" or not getattr(workload.spec, "OPTIMIZER", None) or workload.has_step:
        return None
    try:
        import optax
    except ModuleNotFoundError as missing:
        raise base.Unsupported("a training step in JAX updates by optax, which isn't installed") from missing
    return optax


class Adapter(JaxAdapter):
    """State: (parameters, buffers, optimizer state), pytrees; most workloads have no buffers."""

    packages = ("jax", "jaxlib", "libtpu", "optax", "numpy")
    family = "jax"

    def __init__(self, case, workload):
        import jax

        super().__init__(case, workload, jax, optax_of(case, workload))

    @classmethod
    def environ(cls, case, cache_directory):
        variables = super().environ(case, cache_directory)
        if case.implementation == "model" and case.target != "cpu":
            variables["JAX_PLATFORMS"] += ",cpu"  # a question's model is made on the host
        return variables

    @classmethod
    def of(cls, workload):
        return type(cls.__name__, (jax_steps.OwnStep, cls), {}) if workload.has_step else cls

    def device(self):
        devices = self.find_devices()
        asynchronous = self.jax.config.values.get("jax_cpu_enable_async_dispatch")
        return {"device": devices[0].device_kind, "devices": len(devices), "async_dispatch": asynchronous}

    def matmul(self, a, b):
        product = self.compile(self.in_precision(self.jax.numpy.matmul))
        return np.array(product(self.jax.device_put(a), self.jax.device_put(b)))

    def in_precision(self, function):
        """Returns the function in the case's precision. For bf16 its arguments are cast to bfloat16 and its results to
        float32; the cast makes gradients float32, too. JAX's setting for bfloat16 products of float32 (its dot
        algorithms) wouldn't do: on a CPU it changes nothing."""
        if self.case.precision != "bf16":
            return function
        return lambda *arguments, **named: self.high(function(*self.low(arguments), **self.low(named)))

    def low(self, tree):
        """Returns a tree cast to the type that the step computes in."""
        return self.cast(tree, "bfloat16") if self.case.precision == "bf16" else tree

    def high(self, tree):
        """Returns a tree cast back to the type of the state."""
        return self.cast(tree, "float32") if self.case.precision == "bf16" else tree

    def cast(self, tree, dtype):
        jnp = self.jax.numpy
        return self.jax.tree.map(
            lambda x: x.astype(dtype) if jnp.issubdtype(jnp.result_type(x), jnp.floating) else x, tree
        )

    def build(self, abstract=False):
        dialect, dims = self.code(), self.dims
        if self.optimizer == "own":  # a question's
            self.transform = dialect.optimizer()
        if hasattr(dialect, "loop"):
            token = self.compile(partial(self.token, dialect.token), donate_argnums=(1,))
            self.forward, self.call = Loop(self.jax, dialect, dims, token), self.forward_step
            return
        in_precision = self.in_precision(dialect.forward)

        def forward(parameters, buffers, inputs):
            state = (parameters, buffers) if self.buffers else (parameters,)
            return in_precision(dims, *state, **inputs)

        def loss(parameters, buffers, batch):
            # The target and the running statistics aren't cast.
            target = {name: value for name, value in batch.items() if name == "target"}
            parameters, batch = self.low(parameters), self.low(batch) | target
            if self.buffers:
                loss, buffers = dialect.loss(dims, parameters, buffers, **batch)
            else:
                loss = dialect.loss(dims, parameters, **batch)
            return self.high(loss), buffers

        self.forward, self.loss = forward, loss
        self.loss_and_gradients = self.jax.value_and_grad(self.loss, has_aux=True)
        self.call = self.train_step if self.train else self.forward_step

    def token(self, function, parameters, cache, *inputs):
        """Makes one call of a dialect's loop in the case's precision. The cache keeps its type."""
        return self.high(function(self.dims, self.low(parameters), cache, *inputs))

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

    def place(self, parameters, batch, moments=True):
        put = self.put_named
        weights = {name: put(name, value) for name, value in parameters}
        buffers = base.nested({name: weights.pop(name) for name in self.buffers})
        weights = base.nested(weights)
        updates = self.train and self.optimizer and moments
        state = weights, buffers, self.transform.init(weights) if updates else ()
        return self.jax.block_until_ready((state, {name: put(name, value) for name, value in batch}))

    def step(self, state, batch):
        return self.call(state, batch)

    def wait(self, state, outputs):
        self.jax.block_until_ready((state, outputs))

    def fetch(self, array):
        # np.array copies: np.asarray of a CPU array is a read-only alias of the device's buffer.
        return np.array(array, np.float32 if self.type_of(array) == "bfloat16" else None)

    def read(self, what, state, batch):
        parameters, buffers, moments = state
        if what == "parameters":
            return {**self.host(parameters), **self.host(buffers)}
        if what == "moments":
            return self.host(self.moments(moments), "/")
        if what == "output":
            inputs = {name: value for name, value in batch.items() if name != "target"}
            return {"output": trees.mapped(self.fetch, self.compile(self.forward)(parameters, buffers, inputs))}
        (loss, _), gradients = self.compile(self.loss_and_gradients)(parameters, buffers, batch)
        return {"loss": base.plain(loss), **{name: conjugate(value) for name, value in self.host(gradients).items()}}

    def host(self, tree, top="."):
        """Returns a tree's arrays on the host, by dotted path; `top` replaces the first dot."""
        return {name.replace(".", top, 1): base.plain(value) for name, value in base.flat(tree).items()}
