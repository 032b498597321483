"""fusion in JAX. A kernel is an instruction of the optimized program; op by op, each call is a program of its own."""

import jax
import jax.numpy as jnp


def selu(x):
    return 1.05 * jnp.where(x > 0, x, 1.67 * jnp.expm1(x))


def run(stack, recorder):
    spec = recorder.spec

    def kernels(function, x):
        if stack.jit(function) is function:
            return len(jax.make_jaxpr(function)(x).eqns)
        return spec.launched(stack.jit(function).lower(x).compile().as_text())

    spec.observe(recorder, selu, kernels)
