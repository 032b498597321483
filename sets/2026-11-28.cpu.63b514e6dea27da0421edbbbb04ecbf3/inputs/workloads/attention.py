"""Attention written out, or the framework's own function: which is faster on a CPU? huggingface/diffusers#3100"""

import jax
import jax.numpy as jnp
import torch

from suite.ask import normal


def inputs(batch=2, heads=8, length=512, width=64):
    return {name: normal(batch, heads, length, width) for name in "qkv"}


def torch_sdpa(q, k, v):
    return torch.nn.functional.scaled_dot_product_attention(q, k, v)


def torch_written_out(q, k, v):
    return torch.softmax(q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5, -1) @ v


def jax_attention(q, k, v):
    q, k, v = (x.transpose(0, 2, 1, 3) for x in (q, k, v))
    return jax.nn.dot_product_attention(q, k, v).transpose(0, 2, 1, 3)


def jax_written_out(q, k, v):
    return jax.nn.softmax(q @ jnp.swapaxes(k, -1, -2) * q.shape[-1] ** -0.5, -1) @ v
