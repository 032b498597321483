"""JAX under jit: the whole step is one XLA program and the training state is donated to it."""

from __future__ import annotations

from suite.stacks import jax_eager_adapter as jax_eager


class Adapter(jax_eager.Adapter):
    """As op by op, with the step compiled."""

    def build(self, abstract=False):
        super().build(abstract)
        if self.train and self.optimizer:
            self.run = self.jax.jit(self.train_step, donate_argnums=(0,))
        else:
            # Nothing is updated: the state stays outside, or each call would copy it to its outputs.
            self.run = self.stateless(self.jax.jit(self.forward if not self.train else self.loss_and_gradients))

    @staticmethod
    def stateless(compiled):
        def run(state, batch):
            return state, compiled(state[0], **batch)

        return run

    def compile(self, function):
        return self.jax.jit(function)
