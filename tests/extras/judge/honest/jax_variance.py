"""By the variance, in JAX."""

# before: norm
import jax
import jax.numpy as jnp


def jax_norm(x):
    return (x - x.mean(-1, keepdims=True)) * jax.lax.rsqrt(jnp.var(x, -1, keepdims=True) + 1e-5)
