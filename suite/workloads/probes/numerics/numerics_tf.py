"""TensorFlow: operators, and functions of tf."""

import tensorflow as tf


def product_bf16(x, y):
    return tf.cast(tf.cast(x, tf.bfloat16) @ tf.cast(y, tf.bfloat16), tf.float32)


def total(x):
    return tf.reduce_sum(x)


def larger(x, y):
    return tf.maximum(x, y)


def largest(rows):
    return tf.reduce_max(rows, axis=1)


def largest_of_columns(rows):
    return tf.reduce_max(rows, axis=0)


def exponential(x):
    return tf.exp(x)


def to_int32(x):
    return tf.cast(x, tf.int32)


def run(stack, recorder):
    recorder.spec.observe(
        recorder,
        matmul_bf16=product_bf16,
        sum=total,
        nan_maximum=larger,
        nan_max=largest,
        nan_max_large=largest,
        nan_max_columns=largest_of_columns,
        overflow=exponential,
        float_to_int=to_int32,
    )
