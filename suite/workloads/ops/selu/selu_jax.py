"""selu in JAX, written with primitives, as in JAX's documentation; `jit` fuses them."""

import jax.numpy as jnp

ALPHA = 1.67
LAMBDA = 1.05


def forward(dims, parameters):
    x = parameters["x"]
    return LAMBDA * jnp.where(x > 0, x, ALPHA * jnp.expm1(x))


def loss(dims, parameters, target):
    return jnp.mean(jnp.square(forward(dims, parameters) - target))
