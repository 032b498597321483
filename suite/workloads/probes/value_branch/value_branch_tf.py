"""TensorFlow: where `tf.function` traces, AutoGraph turns an `if` on a tensor into a `tf.cond`."""

import tensorflow as tf


def python_if(x):
    if tf.reduce_sum(x) > 0:
        return x * 2
    return x - 1


def cond(x):
    return tf.cond(tf.reduce_sum(x) > 0, lambda: x * 2, lambda: x - 1)


def run(stack, recorder):
    spec = recorder.spec
    converted = "" if stack.case.stack == "tf_eager" else "AutoGraph turns the if into a tf.cond"
    spec.observe(recorder, "python_if", python_if, words=converted)
    spec.observe(recorder, "static", spec.static_if)
    spec.observe(recorder, "remedy", cond)
