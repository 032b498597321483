"""An LSTM: the framework's own layer, a Python loop, or JAX's scan over the same cell?"""

import jax
import jax.numpy as jnp
import torch

from suite.ask import normal


def inputs(steps=64, batch=32, width=128):
    weights = {name: normal(width, 4 * width, sigma=width**-0.5) for name in ("input", "hidden")}
    return {"x": normal(steps, batch, width), "w": weights}


def cell(h, c, gates, sigmoid, tanh):
    width = h.shape[-1]
    i, f, g, o = (gates[:, k * width : (k + 1) * width] for k in range(4))
    c = sigmoid(f) * c + sigmoid(i) * tanh(g)
    return sigmoid(o) * tanh(c), c


def torch_loop(x, w):
    h = c = torch.zeros_like(x[0])
    for x_t in x:
        h, c = cell(h, c, x_t @ w["input"] + h @ w["hidden"], torch.sigmoid, torch.tanh)
    return h


def torch_layer(x, w):
    zero = x.new_zeros(1, x.shape[1], x.shape[2])
    flat = [w["input"].T.contiguous(), w["hidden"].T.contiguous()]
    return torch.lstm(x, (zero, zero), flat, False, 1, 0.0, False, False, False)[1][0]


def jax_scan(x, w):
    def step(state, x_t):
        return cell(*state, x_t @ w["input"] + state[0] @ w["hidden"], jax.nn.sigmoid, jnp.tanh), None

    zero = jnp.zeros_like(x[0])
    return jax.lax.scan(step, (zero, zero), x)[0][0]
