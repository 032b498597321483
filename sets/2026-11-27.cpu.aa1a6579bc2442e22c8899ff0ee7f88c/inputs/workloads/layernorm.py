"""Is PyTorch's layer norm slower than three lines of arithmetic where rows are short? pytorch/pytorch#143754"""

import jax.numpy as jnp
import torch

from suite.ask import normal


def inputs(rows=8192, columns=16):
    return {"x": normal(rows, columns)}


def torch_layernorm(x):
    return torch.nn.functional.layer_norm(x, x.shape[-1:])


def torch_naive(x):
    centred = x - x.mean(-1, keepdim=True)
    return centred * torch.rsqrt((centred * centred).mean(-1, keepdim=True) + 1e-5)


def jax_naive(x):
    centred = x - x.mean(-1, keepdims=True)
    return centred / jnp.sqrt((centred * centred).mean(-1, keepdims=True) + 1e-5)
