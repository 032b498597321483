# /// script
# requires-python = ">=3.11"
# dependencies = ["flax"]
# ///
"""Is one transformer block faster in PyTorch or in Flax, each as its users write it?"""

import optax
import torch
from flax import linen
from torch import nn

from suite.ask import normal


def inputs(batch=4, length=64):
    return {"src": normal(batch, length, 128)}


def torch_model():
    return nn.TransformerEncoderLayer(128, 4, 512, 0.1, batch_first=True)


class Block(linen.Module):
    @linen.compact
    def __call__(self, src):
        x = linen.LayerNorm(epsilon=1e-5)(src + linen.MultiHeadDotProductAttention(4)(src))
        y = linen.relu(linen.Dense(512)(x))
        return linen.LayerNorm(epsilon=1e-5)(x + linen.Dense(128)(y))


def jax_model():
    return Block()


def torch_optimizer(parameters):
    return torch.optim.AdamW(parameters, lr=3e-4)


def jax_optimizer():
    return optax.adamw(3e-4, weight_decay=0.01)  # as PyTorch's, unless it is told otherwise
