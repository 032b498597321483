"""JAX: jax.numpy, and XLA's arithmetic below it."""

import jax.numpy as jnp


def product_bf16(x, y):
    return (x.astype(jnp.bfloat16) @ y.astype(jnp.bfloat16)).astype(jnp.float32)


def total(x):
    return x.sum()


def larger(x, y):
    return jnp.maximum(x, y)


def largest(rows):
    return rows.max(axis=1)


def largest_of_columns(rows):
    return rows.max(axis=0)


def exponential(x):
    return jnp.exp(x)


def to_int32(x):
    return x.astype(jnp.int32)


FUNCTIONS = {
    "matmul_bf16": product_bf16,
    "sum": total,
    "nan_maximum": larger,
    "nan_max": largest,
    "nan_max_large": largest,
    "nan_max_columns": largest_of_columns,
    "overflow": exponential,
    "float_to_int": to_int32,
}


def run(stack, recorder):
    recorder.spec.observe(recorder, FUNCTIONS)
