"""JAX under jit: the whole step is one XLA program and the training state is donated to it."""

from __future__ import annotations

from suite.stacks.jax import jax_eager_adapter as jax_eager
from suite.stacks.jax.jax_runtime import Loop, OneProgram
from suite.stacks.xla import compiler


class Adapter(OneProgram, jax_eager.Adapter):
    """Like `jax_eager`, with the step compiled."""

    knobs = compiler.KNOBS

    def build(self, abstract=False):
        super().build(abstract)
        if self.train and self.optimizer:
            self.call = self.program = self.compile(self.train_step, donate_argnums=(0,))
        else:
            # Nothing is updated, so the program doesn't return the state: each call would copy it to the outputs.
            self.program = self.compile(self.gradients if self.train else self.forward)
            self.call = self.stateless(self.program)

    def gradients(self, parameters, buffers, batch):
        (loss, _), gradients = self.loss_and_gradients(parameters, buffers, batch)
        return loss, gradients

    @staticmethod
    def stateless(compiled):
        def run(state, batch):
            parameters, buffers, _ = state
            return state, compiled(parameters, buffers, batch)

        return run

    def arguments(self, state, batch):
        """Returns the program's arguments: the whole state only if the program updates it."""
        parameters, buffers, _ = state
        return (state, batch) if self.call is self.program else (parameters, buffers, batch)

    def compile_on_shapes(self, parameters, batch):
        def place(parameters, batch):
            return self.place(parameters.items(), batch.items())

        state, batch = self.jax.eval_shape(place, self.shapes_of(parameters), self.shapes_of(batch))
        self.program.lower(*self.arguments(state, batch)).compile()
        return state, batch

    def jit(self, function, static=()):
        return self.jax.jit(function, static_argnums=static)

    def compile(self, function, **options):
        if isinstance(function, Loop):
            return function  # whose calls are compiled
        return self.jax.jit(function, compiler_options=compiler.compiler_options(self.tuned), **options)
