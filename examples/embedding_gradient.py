"""Whose scatter-add is best, in the gradient of a table's lookups (--pass=gradient)? tensorflow/tensorflow#56511"""

import jax.numpy as jnp
import tensorflow as tf
import torch

from suite.ask import integers, normal


def inputs(rows=50_000, width=64, lookups=8_192):
    return {"table": normal(rows, width), "ids": integers(lookups, high=rows)}


def torch_embedding(table, ids):
    return torch.nn.functional.embedding(ids, table)


def torch_index(table, ids):
    return table[ids]


def jax_take(table, ids):
    return jnp.take(table, ids, axis=0)


def tf_gather(table, ids):
    return tf.gather(table, ids)
