"""JAX: while tracing, shapes are Python numbers; a traced value has no number yet."""

import jax.numpy as jnp


def zeros(like, count):
    return jnp.zeros(count, like.dtype)


def reshaped(x):
    return x.reshape(jnp.array(x.shape).prod())


def run(stack, recorder):
    recorder.spec.observe(recorder, zeros, reshaped)
