"""How much slower is argsort in jax.numpy, which is stable, than NumPy's default and PyTorch's stable one?

jax-ml/jax#10434"""

import jax.numpy as jnp
import numpy as np
import torch

from suite.ask import normal


def inputs(n=1_000_000):
    return {"x": normal(n)}


def canonical(order, x):
    return x[order]  # NumPy's default leaves equal values in any order


def numpy_argsort(x):
    return np.argsort(x)


def jax_argsort(x):
    return jnp.argsort(x)


def torch_argsort(x):
    return torch.argsort(x, stable=True)
