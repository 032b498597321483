"""The mean of each sequence's own part: by `where`, or by a product? pytorch/pytorch#131292"""

import jax.numpy as jnp
import torch

from suite.ask import lengths, normal


def inputs(batch=512, longest=1_024):
    return {"x": normal(batch, longest), "n": lengths(batch, longest)}


def torch_where(x, n):
    mask = torch.arange(x.shape[1], device=x.device) < n[:, None]
    return torch.where(mask, x, 0.0).sum(1) / n


def torch_product(x, n):
    return (x * (torch.arange(x.shape[1], device=x.device) < n[:, None])).sum(1) / n


def jax_where(x, n):
    return jnp.where(jnp.arange(x.shape[1]) < n[:, None], x, 0.0).sum(1) / n


def jax_mean_where(x, n):
    return jnp.mean(x, 1, where=jnp.arange(x.shape[1]) < n[:, None])
