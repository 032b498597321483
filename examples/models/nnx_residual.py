# /// script
# requires-python = ">=3.11"
# dependencies = ["flax"]
# ///
"""Does jit fuse batch norm into the convolutions of a residual network in Flax NNX?"""

import optax
from flax import nnx

from suite.ask import normal


def inputs(batch=4, side=32):
    return {"inputs": normal(batch, side, side, 3)}


class Residual(nnx.Module):
    def __init__(self, rngs):
        self.convs = nnx.List([nnx.Conv(64, 64, (3, 3), use_bias=False, rngs=rngs) for _ in range(2)])
        self.norms = nnx.List([nnx.BatchNorm(64, rngs=rngs) for _ in range(2)])

    def __call__(self, x):
        y = nnx.relu(self.norms[0](self.convs[0](x)))
        return nnx.relu(x + self.norms[1](self.convs[1](y)))


def jax_model():
    rngs = nnx.Rngs(0)
    stem = nnx.Conv(3, 64, (3, 3), strides=2, rngs=rngs)
    blocks = [Residual(rngs) for _ in range(3)]
    return nnx.Sequential(stem, *blocks, lambda x: x.mean((1, 2)), nnx.Linear(64, 10, rngs=rngs))


def jax_optimizer():
    return optax.adamw(3e-4)
