"""softmax in JAX."""

import jax
import jax.numpy as jnp


def forward(dims, parameters):
    return jax.nn.softmax(parameters["x"], axis=-1)


def loss(dims, parameters, target):
    return jnp.mean(jnp.square(forward(dims, parameters) - target))
