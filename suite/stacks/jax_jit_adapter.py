"""JAX under jit: the whole step is one XLA program and the training state is donated to it."""

from __future__ import annotations

from suite.stacks import jax_eager_adapter as jax_eager
from suite.stacks import xla


class Adapter(jax_eager.Adapter):
    """As op by op, with the step compiled."""

    knobs = xla.KNOBS

    def build(self, abstract=False):
        super().build(abstract)
        if self.train and self.optimizer:
            self.run = self.compile(self.train_step, donate_argnums=(0,))
        else:
            # Nothing is updated: the state stays outside, or each call would copy it to its outputs.
            self.run = self.stateless(self.compile(self.gradients if self.train else self.forward))

    def gradients(self, parameters, buffers, batch):
        (loss, _), gradients = self.loss_and_gradients(parameters, buffers, batch)
        return loss, gradients

    @staticmethod
    def stateless(compiled):
        def run(state, batch):
            parameters, buffers, _ = state
            return state, compiled(parameters, buffers, batch)

        return run

    def compile(self, function, **options):
        return self.jax.jit(function, compiler_options=xla.compiler_options(self.tuned), **options)
