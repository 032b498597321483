"""TensorFlow: a graph takes shapes as tensors; XLA must know their values when it compiles."""

import math

import tensorflow as tf


def zeros(like, count):
    return tf.zeros([count], like.dtype)


def reshaped(x):
    return tf.reshape(x, [tf.reduce_prod(tf.shape(x))])


def reshaped_by_python(x):
    return tf.reshape(x, [math.prod(x.shape)])


def run(stack, recorder):
    recorder.spec.observe(recorder, zeros, reshaped, reshaped_by_python)
