"""A hundred sines, one of the other, of five million numbers: do all cores work? jax-ml/jax#32707"""

import jax.numpy as jnp
import numpy as np
import torch

from suite.ask import normal


def inputs(n=5_000_000, times=100):
    return {"x": normal(n), "times": times}


def numpy_sines(x, times):
    for _ in range(times):
        x = np.sin(x)
    return x


def jax_sines(x, times):
    for _ in range(times):
        x = jnp.sin(x)
    return x


def torch_sines(x, times):
    for _ in range(times):
        x = torch.sin(x)
    return x
