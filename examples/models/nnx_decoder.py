# /// script
# requires-python = ">=3.11"
# dependencies = ["flax"]
# ///
"""How much does jit save a small decoder in Flax NNX, forward and in a training step?"""

import optax
from flax import nnx

from suite.ask import integers


def inputs(batch=4, length=64):
    return {"tokens": integers(batch, length, high=1000)}


class Decoder(nnx.Module):
    def __init__(self, rngs, width=128):
        self.embed, self.norm = nnx.Embed(1000, width, rngs=rngs), nnx.LayerNorm(width, rngs=rngs)
        self.attend = nnx.List([nnx.MultiHeadAttention(4, width, decode=False, rngs=rngs) for _ in range(4)])
        self.dropout = nnx.Dropout(0.1, rngs=rngs)

    def __call__(self, tokens):
        x, mask = self.embed(tokens), nnx.make_causal_mask(tokens)
        for attend in self.attend:
            x = x + self.dropout(attend(x, mask=mask))
        return self.embed.attend(self.norm(x))


def jax_model():
    return Decoder(nnx.Rngs(0))


def jax_optimizer():
    return optax.adamw(3e-4)
