"""`jax_jit` that doesn't wait for its steps."""

from dataclasses import replace

from suite.stacks.catalog import STACKS
from suite.stacks.jax import jax_jit_adapter as jax_jit

STACK = replace(STACKS["jax_jit"], name="jax_jit_unwaited", title="JAX, jit, without waiting", exclusions=())


class Adapter(jax_jit.Adapter):
    def wait(self, state, outputs):
        pass
