# /// script
# requires-python = ">=3.11"
# dependencies = ["flax"]
# ///
"""What does jit gain on a U-Net in Flax NNX, whose halves are joined by skips?"""

import jax.numpy as jnp
import optax
from flax import nnx

from suite.ask import normal


def inputs(batch=2, side=64):
    return {"x": normal(batch, side, side, 3)}


class UNet(nnx.Module):
    def __init__(self, rngs):
        self.down1, self.down2 = nnx.Conv(3, 32, (3, 3), rngs=rngs), nnx.Conv(32, 64, (3, 3), strides=2, rngs=rngs)
        self.middle, self.norm = nnx.Conv(64, 64, (3, 3), rngs=rngs), nnx.GroupNorm(64, num_groups=8, rngs=rngs)
        self.up, self.out = nnx.ConvTranspose(64, 32, (2, 2), strides=2, rngs=rngs), nnx.Conv(64, 3, (3, 3), rngs=rngs)

    def __call__(self, x):
        skip = nnx.silu(self.down1(x))
        y = nnx.silu(self.norm(self.middle(nnx.silu(self.down2(skip)))))
        return self.out(jnp.concatenate([skip, self.up(y)], -1))


def jax_model():
    return UNet(nnx.Rngs(0))


def jax_optimizer():
    return optax.adamw(3e-4)
