"""An LSTM: PyTorch's own layer, a loop over its cell, or JAX's scan? pytorch/pytorch#94457"""

import jax
import torch

from suite.ask import normal


def inputs(steps=64, batch=32, width=128):
    return {"x": normal(steps, batch, width)} | {w: normal(4 * width, width, sigma=width**-0.5) for w in ("w_x", "w_h")}


def torch_loop(x, w_x, w_h):
    h = c = torch.zeros_like(x[0])
    for x_t in x:
        h, c = torch.lstm_cell(x_t, (h, c), w_x, w_h)
    return h


def torch_layer(x, w_x, w_h):
    return torch.lstm(x, (torch.zeros_like(x[:1]),) * 2, [w_x, w_h], False, 1, 0.0, False, False, False)[1][0]


def jax_scan(x, w_x, w_h):
    def step(state, x_t):
        i, f, g, o = jax.numpy.split(x_t @ w_x.T + state[0] @ w_h.T, 4, -1)
        c = jax.nn.sigmoid(f) * state[1] + jax.nn.sigmoid(i) * jax.numpy.tanh(g)
        return (jax.nn.sigmoid(o) * jax.numpy.tanh(c), c), None

    return jax.lax.scan(step, (jax.numpy.zeros_like(x[0]),) * 2, x)[0][0]
