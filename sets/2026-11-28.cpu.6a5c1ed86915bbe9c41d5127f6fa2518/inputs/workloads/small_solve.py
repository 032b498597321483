"""Solving a hundred thousand 3 by 3 systems: LAPACK, or Cramer's rule written out? jax-ml/jax#36927"""

import jax.numpy as jnp
import numpy as np
import torch

from suite.ask import normal, spd

TOLERANCE = 1e-3


def inputs(batch=100_000):
    return {"a": spd(batch, 3, condition=10), "b": normal(batch, 3)}


def numpy_solve(a, b):
    return np.linalg.solve(a, b[..., None])[..., 0]


def jax_solve(a, b):
    return jnp.linalg.solve(a, b[..., None])[..., 0]


def jax_cramer(a, b):
    columns = jnp.moveaxis(a, -1, 0)
    across = jnp.cross(columns[1], columns[2])
    return jnp.stack(
        [
            (b * across).sum(-1),
            (columns[0] * jnp.cross(b, columns[2])).sum(-1),
            (columns[0] * jnp.cross(columns[1], b)).sum(-1),
        ],
        -1,
    ) / (columns[0] * across).sum(-1, keepdims=True)


def torch_solve(a, b):
    return torch.linalg.solve(a, b)
