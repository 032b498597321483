"""Squared differences of neighbours in a volume, as a regularizer has them: what does their gradient cost on a CPU?

jax-ml/jax#37465"""

import jax
import jax.numpy as jnp
import numpy as np
import torch

from suite.ask import normal


def inputs(side=256):
    return {"x": normal(side, side, side)}


def numpy_gradient(x):
    ends = [(x.take([0], axis), x.take([-1], axis)) for axis in range(3)]
    return -2 * sum(np.diff(x, 2, axis, prepend=first, append=last) for axis, (first, last) in enumerate(ends))


def jax_gradient(x):
    return jax.grad(lambda x: sum(jnp.square(jnp.diff(x, axis=axis)).sum() for axis in range(3)))(x)


def torch_gradient(x):
    return torch.func.grad(lambda x: sum(torch.square(torch.diff(x, dim=axis)).sum() for axis in range(3)))(x)
