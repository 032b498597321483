"""torchax: the nn.Module is traced to JAX. The whole train step, with optax's optimizer, is one jit that donates the
state."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from suite.stacks import base
from suite.stacks.jax.jax_runtime import OneProgram, conjugate
from suite.stacks.torch import torch_modules
from suite.stacks.torchax import torchax_optimizer
from suite.stacks.xla import compiler
from suite.workloads import trees

HOME = "jax"  # torchax's name for the device


class Adapter(OneProgram):
    """State: (weights, buffers, optimizer state), torch views of JAX arrays."""

    token = None  # the compiled call, of which a step makes many, where the dialect has a loop
    knobs = compiler.KNOBS
    family = "torch"
    packages = ("torch", "torchax", "jax", "jaxlib", "libtpu", "optax", "numpy")

    def __init__(self, case, workload):
        import jax
        import optax
        import torch
        import torchax
        import torchax.amp
        import torchax.interop
        from torchax.ops import ops_registry

        super().__init__(case, workload, jax, optax)
        self.torch, self.torchax, self.interop, self.ops_registry = torch, torchax, torchax.interop, ops_registry
        torch_modules.set_threads(torch, case.threads)

    def device(self):
        devices = self.find_devices()
        self.torchax.enable_globally()
        norm = self.torch.ops.aten.native_batch_norm
        self.pure_batch_norm = self.ops_registry.all_aten_ops[norm].func
        self.torchax.default_env().override_op_definition(norm, self.batch_norm)
        self.mend_autocast()
        return {"device": devices[0].device_kind, "devices": len(devices)}

    def batch_norm(self, x, weight, bias, mean, var, training, momentum, epsilon):
        """Computes torchax's own batch norm, which is a pure function and leaves the running statistics unchanged, and
        then updates them."""
        result = self.interop.call_jax(self.pure_batch_norm, x, weight, bias, mean, var, training, momentum, epsilon)
        if training:
            others = [axis for axis in range(x.ndim) if axis != 1]
            x = x.float()  # under autocast it is bfloat16, the statistics aren't
            mean.lerp_(x.mean(others), momentum)  # XLA finds both sums in the norm itself
            var.lerp_(self.torch.var(x, others, correction=1), momentum)
        return result

    def matmul(self, a, b):
        product = self.compile_torch(self.in_precision(self.torch.matmul))
        return self.host(product(self.put(a), self.put(b)))

    def compile(self, function):
        return self.jax.jit(function, **self.options())

    def compile_torch(self, function, **options):
        """Returns a function of torch tensors, compiled with the options of `compile`."""
        return self.interop.jax_jit(function, kwargs_for_jax_jit=self.options() | options)

    def jit(self, function, static=()):
        return self.interop.jax_jit(function, kwargs_for_jax_jit={"static_argnums": static})

    def options(self):
        return {"compiler_options": compiler.compiler_options(self.tuned)}

    def in_precision(self, function):
        return torch_modules.in_precision(function, self.case.precision, self.autocast)

    def autocast(self):
        return self.torchax.amp.autocast(HOME, self.torch.bfloat16)

    def mend_autocast(self):
        """Mends autocast's list of casts. Adds the products that it lacks, as torchax calls them: functions of its own,
        and ATen's convolution. Removes the promotions: they fail on lists of operands (`cat`), and JAX promotes by
        itself."""
        amp, functional = self.torchax.amp, self.torch.nn.functional
        for function, cast in list(amp.autocast_policy.items()):
            if cast is amp.CastPolicy.PROMOTE:
                del amp.autocast_policy[function]
        for product in (
            functional.linear,
            functional.scaled_dot_product_attention,
            self.torch.einsum,
            self.torch.ops.aten.convolution.default,
        ):
            amp.autocast_policy[product] = amp.CastPolicy.LOWER_PRECISION_FP

    def build(self, abstract=False):
        torch, interop = self.torch, self.interop
        dialect = self.code()

        class WithLoss(torch.nn.Module):
            """The loss as a module's forward, so that `functional_call` swaps the weights in."""

            def __init__(self, model):
                super().__init__()
                self.model = model

            def forward(self, batch):
                return dialect.loss(self.model, **batch)

        # While torchax is enabled, every new tensor is torchax's, even on `meta`: both models would take memory.
        with self.torchax.disable_temporarily(), torch.device("meta"):
            self.model = self.make_model(dialect).eval()
            with_loss = WithLoss(self.make_model(dialect).train())
        if own := self.train and self.optimizer and getattr(dialect, "optimizer", None):
            self.transform = torchax_optimizer.of_torch(torch, self.optax, own, self.model)
        self.layouts, tensors = torch_modules.Layouts(torch, self.model), self.tensors
        with self.torchax.disable_temporarily():
            torch_modules.check(torch, self.model, self.layouts, tensors.parameters, tensors.buffers)
            made = partial(self.make_model, dialect)
            self.constants = {} if abstract else torch_modules.constants(self.model, made, tensors.buffers)

        def call(module, prefix, weights, buffers, *args, **kwargs):
            tensors = {f"{prefix}{name}": value for name, value in (weights | buffers).items()}
            return torch.func.functional_call(module, tensors, args, kwargs)

        def loss(weights, buffers, batch):
            # The model updates its buffers in place, so in the trace `buffers` now holds the new values.
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

        def token(weights, buffers, cache, *inputs):
            return call(self.model, "", weights, buffers, cache, *inputs)

        def looped(weights, buffers, inputs):
            return dialect.loop(partial(self.token, weights, buffers), self.model.start(**inputs), **inputs)

        self.forward = self.compile_torch(self.in_precision(forward))
        self.loss_and_gradients = self.compile_torch(gradients)
        self.compiled_step = self.compile_torch(step, donate_argnums=(0, 1, 2))
        if hasattr(dialect, "loop"):  # of Python: only the calls in it are compiled
            self.token = wrapped = self.compile_torch(self.in_precision(token), donate_argnums=(2,))
            self.call, self.forward = self.forward_step, looped
        elif not self.train:
            self.call, wrapped = self.forward_step, self.forward
        elif self.optimizer:
            self.call, wrapped = self.train_step, self.compiled_step
        else:
            self.call, wrapped = self.gradient_step, self.loss_and_gradients
        self.program = wrapped.args[0]  # of JAX arrays: the function that torchax has wrapped for torch's tensors

    def arguments(self, state, batch):
        weights, buffers, moments = state
        if self.token:
            start = self.interop.jax_view(lambda inputs: self.model.start(**inputs))
            weights, buffers, batch = self.interop.jax_view((weights, buffers, batch))
            return weights, buffers, self.jax.eval_shape(start, batch), *batch.values()
        last = (moments, batch) if self.train and self.optimizer else (batch,)
        return self.interop.jax_view((weights, buffers, *last))

    def holders(self, logs, state, batch):
        found = super().holders(logs, state, batch)
        if not (self.token and found):
            return found
        # The third of the numbered arguments, elsewhere the optimizer's state, is the cache here.
        held = (replace(each, category="arguments") if each.category == "optimizer" else each for each in found.all)
        return replace(found, all=tuple(held))

    def compile_on_shapes(self, parameters, batch):
        jax = self.jax
        weights = {name: jax.ShapeDtypeStruct(p.shape, self.types[name]) for name, p in self.model.named_parameters()}
        buffers = {
            name: jax.ShapeDtypeStruct(b.shape, torch_modules.narrow(b.dtype)) for name, b in self.model.named_buffers()
        }
        moments = jax.eval_shape(self.transform.init, weights) if self.train and self.optimizer else ()
        shapes = {name: jax.ShapeDtypeStruct(tensor.channels_first, tensor.dtype) for name, tensor in batch.items()}
        state = weights, buffers, moments
        self.program.lower(*self.arguments(state, shapes)).compile()
        return state, shapes

    def put(self, value):
        # By JAX: torch.tensor would hold the value twice more, as a host tensor and on its way to JAX.
        return self.interop.torch_view(self.jax.device_put(value))

    def put_input(self, name, value):
        return self.interop.torch_view(self.put_named(name, torch_modules.native(self.tensors.batch[name], value)))

    def put_weight(self, name, value):
        value = np.asarray(self.layouts.native(name, value), order="C")  # ascontiguousarray gives a scalar an axis
        return self.interop.torch_view(self.put_named(name, value))

    def place(self, parameters, batch, moments=True):
        weights = {name: self.put_weight(name, value) for name, value in parameters}
        buffers = {name: weights.pop(name) for name in self.buffers}
        for name, value in self.model.named_buffers():
            if name not in self.buffers:
                constant = self.constants.get(name)
                buffers[name] = self.put(np.zeros(value.shape, np.int32) if constant is None else constant.numpy())
        updates = self.train and self.optimizer and moments
        state = weights, buffers, self.interop.call_jax(self.transform.init, weights) if updates else ()
        placed = state, {name: self.put_input(name, value) for name, value in batch}
        self.wait(*placed)
        return placed

    def step(self, state, batch):
        return self.call(state, batch)

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

    def fetch(self, array):
        # np.array copies: np.asarray of a CPU array is a read-only alias of the device's buffer.
        array = self.interop.jax_view(array)
        return np.array(array, np.float32 if self.type_of(array) == "bfloat16" else None)

    def host(self, tensor):
        return base.plain(self.interop.jax_view(tensor))

    def canonical(self, tensors):
        return {name: self.layouts.canonical(name, self.host(tensor)) for name, tensor in tensors.items()}

    def read(self, what, state, batch):
        weights, buffers, moments = state
        if what == "parameters":
            return self.canonical(weights | {name: buffers[name] for name in self.buffers})
        if what == "moments":
            kinds = {kind: self.canonical(tensors) for kind, tensors in self.moments(moments).items()}
            return {f"{kind}/{name}": value for kind, tensors in kinds.items() for name, value in tensors.items()}
        if what == "output":
            inputs = {name: value for name, value in batch.items() if name != "target"}
            return {"output": trees.mapped(self.fetch, self.forward(weights, buffers, inputs))}
        loss, gradients = self.loss_and_gradients(weights, buffers, batch)
        return {
            "loss": self.host(loss),
            **{name: conjugate(value) for name, value in self.canonical(gradients).items()},
        }
