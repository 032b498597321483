"""A loop of a thousand small steps: what does each framework's overhead add up to? jax-ml/jax#26021"""

import jax
import numpy as np
import torch

from suite.ask import normal

TOLERANCE = 1e-3


def inputs(width=16, steps=1_000):
    return {"x": normal(width), "w": normal(width, width, sigma=0.9 * width**-0.5), "steps": steps}


def numpy_loop(x, w, steps):
    for _ in range(steps):
        x = np.tanh(x @ w) + 0.1
    return x


def torch_loop(x, w, steps):
    for _ in range(steps):
        x = torch.tanh(x @ w) + 0.1
    return x


def jax_fori_loop(x, w, steps):
    return jax.lax.fori_loop(0, steps, lambda _, x: jax.numpy.tanh(x @ w) + 0.1, x)


NOT_ON = {"torch_inductor": "it unrolls the loop, and compiles for minutes"}
