"""How much slower is a cumulative sum by XLA's tree than by one running addition? jax-ml/jax#4135"""

import jax.numpy as jnp
import numpy as np
import tensorflow as tf
import torch

from suite.ask import normal

TOLERANCE = 1e-4  # a running sum of a million float32 values is off by about 1e-5


def inputs(n=1_000_000):
    return {"x": normal(n)}


def numpy_cumsum(x):
    return np.cumsum(x)


def jax_cumsum(x):
    return jnp.cumsum(x)


def torch_cumsum(x):
    return torch.cumsum(x, 0)


def tf_cumsum(x):
    return tf.cumsum(x)
