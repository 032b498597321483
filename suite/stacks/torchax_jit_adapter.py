"""torchax: the nn.Module traced to JAX, the whole train step (optax's AdamW) in one jit, state donated."""

from __future__ import annotations

import numpy as np

from suite.stacks import jax_eager_adapter as jax_eager
from suite.stacks import torch_eager_adapter as torch_eager
from suite.stacks import xla


class Adapter(torch_eager.Adapter):
    """State: (weights, buffers, optimizer state), torch views of JAX arrays."""

    knobs = xla.KNOBS
    packages = ("torch", "torchax", "jax", "jaxlib", "libtpu", "optax", "numpy")

    @staticmethod
    def environ(case, cache_directory):
        return jax_eager.environ(case, cache_directory)

    def __init__(self, case, workload):
        super().__init__(case, workload)
        import jax
        import optax
        import torchax
        import torchax.amp
        import torchax.interop
        from torchax.ops import ops_registry

        self.jax, self.torchax, self.interop, self.ops_registry = jax, torchax, torchax.interop, ops_registry
        self.transform = jax_eager.make_optimizer(optax, self.optimizer)
        self.apply_updates = optax.apply_updates
        self.compiles = jax_eager.CompileCounter(jax)

    def device(self):
        devices = jax_eager.find_devices(self)
        self.torchax.enable_globally()
        norm = self.torch.ops.aten.native_batch_norm
        self.pure_batch_norm = self.ops_registry.all_aten_ops[norm].func
        self.torchax.default_env().override_op_definition(norm, self.batch_norm)
        self.mend_autocast()
        self.home = "jax"
        return {"device": devices[0].device_kind, "devices": len(devices)}

    def batch_norm(self, x, weight, bias, mean, var, training, momentum, epsilon):
        """torchax's own, a pure function that leaves the running statistics as they were, and then their update."""
        result = self.interop.call_jax(self.pure_batch_norm, x, weight, bias, mean, var, training, momentum, epsilon)
        if training:
            others = [axis for axis in range(x.ndim) if axis != 1]
            x = x.float()  # under autocast it is bfloat16, the statistics aren't
            mean.lerp_(x.mean(others), momentum)  # XLA finds both sums in the norm itself
            var.lerp_(self.torch.var(x, others, correction=1), momentum)
        return result

    def compile(self, function, **options):
        options["compiler_options"] = xla.compiler_options(self.tuned)
        return self.interop.jax_jit(function, kwargs_for_jax_jit=options)

    def autocast(self):
        return self.torchax.amp.autocast(self.home, self.torch.bfloat16)

    def mend_autocast(self):
        """torchax's list of casts misses what these products become in it: functions of its own, or ATen's one
        convolution. And where it promotes operands it fails on lists of them (`cat`); JAX promotes by itself."""
        amp, functional = self.torchax.amp, self.torch.nn.functional
        for function, cast in list(amp.autocast_policy.items()):
            if cast is amp.CastPolicy.PROMOTE:
                del amp.autocast_policy[function]
        for product in (functional.linear, functional.scaled_dot_product_attention, self.torch.einsum,
                        self.torch.ops.aten.convolution.default):  # fmt: skip
            amp.autocast_policy[product] = amp.CastPolicy.LOWER_PRECISION_FP

    def build(self, abstract=False):
        torch, interop = self.torch, self.interop
        self.dialect = dialect = self.workload.dialect("torch")

        class WithLoss(torch.nn.Module):
            """The loss as a module's forward, so that `functional_call` swaps the weights in."""

            def __init__(self, model):
                super().__init__()
                self.model = model

            def forward(self, batch):
                return dialect.loss(self.model, **batch)

        with torch.device("meta"):
            self.model = dialect.Model(**self.dims).eval()
            with_loss = WithLoss(dialect.Model(**self.dims).train())

        def call(module, prefix, weights, buffers, *args, **kwargs):
            tensors = {f"{prefix}{name}": value for name, value in (weights | buffers).items()}
            return torch.func.functional_call(module, tensors, args, kwargs)

        def loss(weights, buffers, batch):
            # The model updates its buffers in place: in the trace these same tensors hold the new values.
            return self.in_precision(call)(with_loss, "model.", weights, buffers, batch), buffers

        def forward(weights, buffers, inputs):
            return call(self.model, "", weights, buffers, **inputs)

        loss_and_gradients = interop.jax_value_and_grad(loss, {"has_aux": True})

        def step(weights, buffers, moments, batch):
            (loss, buffers), gradients = loss_and_gradients(weights, buffers, batch)
            weights, moments = interop.call_jax(self.apply, weights, moments, gradients)
            return loss, weights, buffers, moments

        def gradients(weights, buffers, batch):
            (loss, _), gradients = loss_and_gradients(weights, buffers, batch)
            return loss, gradients

        self.forward = self.compile(self.in_precision(forward))
        self.loss_and_gradients = self.compile(gradients)
        self.compiled_step = self.compile(step, donate_argnums=(0, 1, 2))
        if not self.train:
            self.run = self.forward_step
        else:
            self.run = self.train_step if self.optimizer else self.gradient_step

    def apply(self, weights, moments, gradients):
        updates, moments = self.transform.update(gradients, moments, weights)
        return self.apply_updates(weights, updates), moments

    def put(self, value):
        return self.torch.tensor(value, device=self.home)

    def put_input(self, value):
        if value.dtype == np.int32:  # named, or torchax makes floats of it; 64 bits are off in JAX
            return self.torch.tensor(value, dtype=self.torch.int32, device=self.home)
        return super().put_input(value)

    def place(self, parameters, batch):
        weights = {name: self.put(np.ascontiguousarray(self.native(name, value))) for name, value in parameters}
        buffers = {name: weights.pop(name) for name in self.buffers}
        # Counters of batches seen, which aren't part of any result.
        rest = {name: value for name, value in self.model.named_buffers() if name not in self.buffers}
        counts = {"dtype": self.torch.int32, "device": self.home}
        buffers |= {name: self.torch.zeros(value.shape, **counts) for name, value in rest.items()}
        moments = self.interop.call_jax(self.transform.init, weights) if self.train and self.optimizer else ()
        placed = (weights, buffers, moments), {name: self.put_input(value) for name, value in batch}
        self.wait(*placed)
        return placed

    def forward_step(self, state, batch):
        weights, buffers, _ = state
        return state, self.forward(weights, buffers, batch)

    def gradient_step(self, state, batch):
        weights, buffers, _ = state
        return state, self.loss_and_gradients(weights, buffers, batch)

    def train_step(self, state, batch):
        weights, buffers, moments = state
        loss, weights, buffers, moments = self.compiled_step(weights, buffers, moments, batch)
        return (weights, buffers, moments), loss

    def wait(self, state, outputs):
        self.jax.block_until_ready(self.interop.jax_view((state, outputs)))

    def fetch(self, outputs):
        # np.array copies: np.asarray of a CPU array is a read-only alias of the device's buffer.
        return np.array(self.interop.jax_view(outputs[0] if isinstance(outputs, tuple) else outputs))

    def host(self, tensor):
        return np.asarray(self.interop.jax_view(tensor))

    def read(self, what, state, batch):
        weights, buffers, _ = state
        if what == "parameters":
            own = weights | {name: buffers[name] for name in self.buffers}
            return {name: self.canonical(name, value) for name, value in own.items()}
        if what == "output":
            inputs = {name: value for name, value in batch.items() if name != "target"}
            return {"output": self.host(self.forward(weights, buffers, inputs))}
        loss, gradients = self.loss_and_gradients(weights, buffers, batch)
        return {"loss": self.host(loss), **{n: self.canonical(n, g) for n, g in gradients.items()}}

    def update(self, parameters, gradients):
        own = self.jax.device_put(dict(parameters))
        moments = self.transform.init(own)

        apply = self.jax.jit(self.apply)
        for injected in gradients:
            own, moments = apply(own, moments, self.jax.device_put(dict(injected)))
        return {name: np.array(value) for name, value in own.items()}

    def counters(self):
        return self.compiles.read()

    def memory(self):
        figures = self.jax.local_devices()[0].memory_stats() or {}
        return {"device_peak_bytes": figures.get("peak_bytes_in_use"),
                "device_reserved_bytes": figures.get("peak_pool_bytes")}  # fmt: skip
