# /// script
# requires-python = ">=3.11"
# dependencies = ["flax"]
# ///
"""Is an LSTM that classifies sequences faster by PyTorch's layer or by Flax's scan?"""

import optax
import torch
from flax import nnx
from torch import nn

from suite.ask import normal


def inputs(batch=8, length=48):
    return {"inputs": normal(batch, length, 32)}


class Classifier(nn.Sequential):
    def forward(self, inputs):
        lstm, head = self
        return head(lstm(inputs)[0][:, -1])


def torch_model():
    return Classifier(nn.LSTM(32, 64, batch_first=True), nn.Linear(64, 5))


def jax_model():
    rngs = nnx.Rngs(0)
    lstm = nnx.RNN(nnx.OptimizedLSTMCell(32, 64, rngs=rngs))
    return nnx.Sequential(lstm, lambda states: states[:, -1], nnx.Linear(64, 5, rngs=rngs))


def torch_optimizer(parameters):
    return torch.optim.AdamW(parameters, lr=3e-4)


def jax_optimizer():
    return optax.adamw(3e-4, weight_decay=0.01)  # as PyTorch's, unless it is told otherwise
