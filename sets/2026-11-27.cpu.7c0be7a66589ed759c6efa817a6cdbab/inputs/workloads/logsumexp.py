"""log-sum-exp: the framework's function, or two lines? pytorch/pytorch#31837"""

import jax
import jax.numpy as jnp
import tensorflow as tf
import torch

from suite.ask import normal


def inputs(rows=1_024, columns=4_096):
    return {"x": normal(rows, columns, sigma=10.0)}


def torch_logsumexp(x):
    return torch.logsumexp(x, -1)


def torch_two_lines(x):
    largest = x.amax(-1, keepdim=True)
    return torch.log(torch.exp(x - largest).sum(-1)) + largest[:, 0]


def jax_logsumexp(x):
    return jax.scipy.special.logsumexp(x, -1)


def jax_two_lines(x):
    largest = x.max(-1, keepdims=True)
    return jnp.log(jnp.exp(x - largest).sum(-1)) + largest[:, 0]


def tf_logsumexp(x):
    return tf.reduce_logsumexp(x, -1)
