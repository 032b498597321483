"""Batch norm in evaluation: one function, or a product and a sum that are folded by hand? pytorch/pytorch#19152"""

import jax.numpy as jnp
import torch

from suite.ask import normal, uniform


def inputs(batch=16, channels=64, side=56):
    norm = {"mean": normal(channels), "var": uniform(channels, low=0.5, high=2.0)}
    return {"x": normal(batch, channels, side, side), **norm, "scale": normal(channels), "shift": normal(channels)}


def torch_batch_norm(x, mean, var, scale, shift):
    return torch.nn.functional.batch_norm(x, mean, var, scale, shift)


def torch_folded(x, mean, var, scale, shift):
    factor = scale * torch.rsqrt(var + 1e-5)
    return x * factor[:, None, None] + (shift - mean * factor)[:, None, None]


def jax_folded(x, mean, var, scale, shift):
    factor = scale / jnp.sqrt(var + 1e-5)
    return x * factor[:, None, None] + (shift - mean * factor)[:, None, None]
