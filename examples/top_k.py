"""Which framework finds the largest of many numbers fastest, and is a whole sort slower? pytorch/pytorch#197196"""

import jax
import jax.numpy as jnp
import tensorflow as tf
import torch

from suite.ask import normal


def inputs(rows=64, columns=32_768, k=32):
    return {"x": normal(rows, columns), "k": k}


def canonical(result, x, k):
    return result[0]  # which of equal values is meant, nobody says


def torch_topk(x, k):
    return torch.topk(x, k)


def torch_sort(x, k):
    values, order = torch.sort(x, descending=True)
    return values[:, :k], order[:, :k]


def jax_top_k(x, k):
    return jax.lax.top_k(x, k)


def jax_sort(x, k):
    order = jnp.argsort(-x)[:, :k]
    return jnp.take_along_axis(x, order, 1), order


def tf_top_k(x, k):
    return tuple(tf.math.top_k(x, k))
