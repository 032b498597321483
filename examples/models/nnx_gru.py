# /// script
# requires-python = ">=3.11"
# dependencies = ["flax"]
# ///
"""Is a recurrent layer's scan in Flax NNX fast without jit, and how much faster is it with?"""

import optax
from flax import nnx

from suite.ask import integers, normal


def inputs(batch=8, length=48):
    return {"tokens": integers(batch, length, high=1000), "wanted": normal(batch, 5)}


class Reader(nnx.Module):
    def __init__(self, rngs):
        self.embed, self.rnn = nnx.Embed(1000, 64, rngs=rngs), nnx.RNN(nnx.GRUCell(64, 128, rngs=rngs))
        self.head = nnx.Linear(128, 5, rngs=rngs)

    def __call__(self, tokens):
        return self.head(self.rnn(self.embed(tokens))[:, -1])


def jax_model():
    return Reader(nnx.Rngs(0))


def loss(outputs, wanted):
    return ((outputs - wanted) ** 2).mean()


def jax_optimizer():
    return optax.adamw(3e-4)
