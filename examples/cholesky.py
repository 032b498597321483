"""Cholesky factors of many small matrices: does a batch pay on a CPU? pytorch/pytorch#46083"""

import jax.numpy as jnp
import numpy as np
import tensorflow as tf
import torch

from suite.ask import spd

TOLERANCE = 1e-4


def inputs(batch=1_000, n=16):
    return {"a": spd(batch, n, condition=100)}


def numpy_cholesky(a):
    return np.linalg.cholesky(a)


def jax_cholesky(a):
    return jnp.linalg.cholesky(a)


def torch_cholesky(a):
    return torch.linalg.cholesky(a)


def tf_cholesky(a):
    return tf.linalg.cholesky(a)
