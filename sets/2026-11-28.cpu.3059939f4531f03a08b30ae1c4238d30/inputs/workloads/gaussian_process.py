"""Thirty small Gaussian processes in each of 500 steps: does a second core help or hinder? jax-ml/jax#29499"""

import jax
import jax.numpy as jnp
import torch

from suite.ask import ascending, normal

TOLERANCE = 1e-3


def inputs(points=32, draws=30, steps=500):
    return {"t": ascending(points), "y": normal(points), "drawn": normal(steps, draws, 3, sigma=0.1)}


def jax_scan(t, y, drawn):
    def density(draw):
        length, height, noise = jnp.exp(draw)
        root = jnp.linalg.cholesky(height * jnp.exp(-(((t[:, None] - t) / length) ** 2)) + noise * jnp.eye(t.size))
        return jnp.square(jax.scipy.linalg.solve_triangular(root, y, lower=True)).sum() + jnp.log(root.diagonal()).sum()

    return jax.lax.scan(lambda total, draws: (total + jax.vmap(density)(draws).mean(), None), 0.0, drawn)[0]


def torch_loop(t, y, drawn):
    total = 0.0
    for draws in drawn:
        length, height, noise = torch.exp(draws)[..., None, None].unbind(1)
        gaps = torch.square((t[:, None] - t) / length)
        root = torch.linalg.cholesky(height * torch.exp(-gaps) + noise * torch.eye(t.shape[0]))
        white = torch.linalg.solve_triangular(root, y[:, None].expand(*root.shape[:-1], 1), upper=False)
        total = total + (torch.square(white).sum((-1, -2)) + torch.log(root.diagonal(0, -2, -1)).sum(-1)).mean()
    return total


NOT_ON = {"torch_inductor": "it unrolls the loop, and compiles for minutes"}
