"""Computes in bfloat16, in JAX."""

# before: norm
import jax.numpy as jnp


def jax_norm(x):
    y = x.astype(jnp.bfloat16)
    centred = y - y.mean(-1, keepdims=True)
    return (centred / jnp.sqrt((centred * centred).mean(-1, keepdims=True))).astype(jnp.float32)
