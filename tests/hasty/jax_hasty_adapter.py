"""A stack that forgets to wait: JAX under jit, whose steps count as done when they have been submitted."""

from suite.stacks.catalog import Stack
from suite.stacks.jax import jax_jit_adapter

STACK = Stack("jax_hasty", "JAX, jit, not waited for", "jax", "jax", eager="jax_eager")


class Adapter(jax_jit_adapter.Adapter):
    def wait(self, state, outputs):
        """Returns at once."""
