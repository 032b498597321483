"""JAX: jax.numpy, and XLA's arithmetic below it."""

import jax.numpy as jnp


def product_bf16(x, y):
    return (x.astype(jnp.bfloat16) @ y.astype(jnp.bfloat16)).astype(jnp.float32)


def larger(x, y):
    return jnp.maximum(x, y)


def exponential(x):
    return jnp.exp(x)


def to_int32(x):
    return x.astype(jnp.int32)


def run(stack, recorder):
    recorder.spec.observe(
        recorder, matmul_bf16=product_bf16, nan_maximum=larger, overflow=exponential, float_to_int=to_int32
    )
