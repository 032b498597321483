# /// script
# requires-python = ">=3.11"
# dependencies = ["flax", "timm"]
# ///
"""Is a port of timm's MLP mixer to Flax faster than timm's own, compiled?"""

import optax
import torch
from flax import linen
from timm.models.mlp_mixer import MixerBlock

from suite.ask import normal


def inputs(batch=8):
    return {"x": normal(batch, 64, 128)}


def torch_model():
    return MixerBlock(128, 64)  # of 128 features and 64 patches


def jax_model():
    class Mixer(linen.Module):
        @linen.compact
        def __call__(self, x):
            y = linen.gelu(linen.Dense(64)(linen.LayerNorm()(x).mT), approximate=False)
            x = x + linen.Dense(64)(y).mT
            y = linen.gelu(linen.Dense(512)(linen.LayerNorm()(x)), approximate=False)
            return x + linen.Dense(128)(y)

    return Mixer()


def torch_optimizer(parameters):
    return torch.optim.AdamW(parameters, lr=3e-4)


def jax_optimizer():
    return optax.adamw(3e-4, weight_decay=0.01)  # as PyTorch's, unless it is told otherwise
