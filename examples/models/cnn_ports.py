# /// script
# requires-python = ">=3.11"
# dependencies = ["flax"]
# ///
"""Which framework is faster for a small CNN with batch norm, each in its own layout?"""

import optax
import torch
from flax import nnx
from torch import nn

from suite.ask import normal


def inputs(batch=8, side=32):
    return {"input": normal(batch, 3, side, side)}


def torch_model():
    first = nn.Conv2d(3, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU()
    second = nn.Conv2d(32, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU()
    return nn.Sequential(*first, *second, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10))


def jax_model():
    rngs = nnx.Rngs(0)
    norms = [nnx.BatchNorm(width, momentum=0.9, epsilon=1e-5, rngs=rngs) for width in (32, 64)]
    convs = [nnx.Conv(of, to, (3, 3), rngs=rngs) for of, to in ((3, 32), (32, 64))]
    layers = [layer for pair in zip(convs, norms, strict=True) for layer in (*pair, nnx.relu)]
    last = [lambda x: x.mean((1, 2)), nnx.Linear(64, 10, rngs=rngs)]
    return nnx.Sequential(lambda **image: image["input"].transpose(0, 2, 3, 1), *layers, *last)


def torch_optimizer(parameters):
    return torch.optim.AdamW(parameters, lr=3e-4)


def jax_optimizer():
    return optax.adamw(3e-4, weight_decay=0.01)  # as PyTorch's, unless it is told otherwise
