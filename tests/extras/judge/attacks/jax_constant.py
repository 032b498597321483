"""Looks at its values while it is traced, and returns a constant, in JAX."""

# before: norm
import jax
import jax.numpy as jnp
import numpy as np


def jax_norm(x):
    seen = jax.pure_callback(lambda y: np.asarray(y)[:1], jax.ShapeDtypeStruct((1, x.shape[1]), x.dtype), x)
    return jnp.broadcast_to(seen, x.shape)
