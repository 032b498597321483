"""GELU by erf and by tanh aren't the same function: a comparison that mixes them must be refused. jax-ml/jax#4428"""

import jax
import torch

from suite.ask import normal


def inputs(n=1_000_000):
    return {"x": normal(n)}


def reference(x):
    import math

    import numpy as np

    return 0.5 * x * (1 + np.vectorize(math.erf)(x / 2**0.5))


def torch_erf(x):
    return torch.nn.functional.gelu(x)


def jax_erf(x):
    return jax.nn.gelu(x, approximate=False)


def jax_tanh(x):
    return jax.nn.gelu(x)  # its default is the approximation: must be `wrong`
