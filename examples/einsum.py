"""One einsum of three operands, or two products? pytorch/pytorch#60295"""

import jax.numpy as jnp
import torch

from suite.ask import normal


def inputs(batch=512, width=256):
    return {"a": normal(batch, width), "m": normal(width, width), "b": normal(batch, width)}


def numpy_two_products(a, m, b):
    return ((a @ m) * b).sum(-1)


def torch_einsum(a, m, b):
    return torch.einsum("bi,ij,bj->b", a, m, b)


def torch_two_products(a, m, b):
    return ((a @ m) * b).sum(-1)


def jax_einsum(a, m, b):
    return jnp.einsum("bi,ij,bj->b", a, m, b)


def jax_two_products(a, m, b):
    return ((a @ m) * b).sum(-1)
