"""Products of a tall and a thin matrix: does any framework beat NumPy? pytorch/pytorch#186348"""

import tensorflow as tf

from suite.ask import normal


def inputs(rows=200_000, width=32, columns=4):
    return {"a": normal(rows, width), "b": normal(width, columns)}


def numpy_product(a, b):
    return a @ b


def jax_product(a, b):
    return a @ b


def torch_product(a, b):
    return a @ b


def tf_product(a, b):
    return tf.matmul(a, b)
