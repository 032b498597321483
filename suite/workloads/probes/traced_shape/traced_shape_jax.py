"""JAX: shapes are Python numbers while tracing; a traced value is none yet."""

import math

import jax.numpy as jnp


def zeros(like, count):
    return jnp.zeros(count, like.dtype)


def reshaped(x):
    return x.reshape(jnp.array(x.shape).prod())


def reshaped_by_python(x):
    return x.reshape(math.prod(x.shape))


def run(stack, recorder):
    recorder.spec.ask(stack, recorder, "zeros", zeros)
    recorder.spec.ask(stack, recorder, "static", zeros)
    recorder.spec.ask(stack, recorder, "reshape", reshaped)
    recorder.spec.ask(stack, recorder, "python", reshaped_by_python)
