"""TensorFlow: AutoGraph makes a `tf.cond` of an `if` on a tensor, in whatever `tf.function` traces."""

import tensorflow as tf


def python_if(x):
    if tf.reduce_sum(x) > 0:
        return x * 2
    return x - 1


def cond(x):
    return tf.cond(tf.reduce_sum(x) > 0, lambda: x * 2, lambda: x - 1)


def run(stack, recorder):
    spec = recorder.spec
    converted = "" if stack.case.stack == "tf_eager" else "AutoGraph makes a tf.cond of the if"
    spec.ask(recorder, "python_if", python_if, words=converted)
    spec.ask(recorder, "static", spec.static_if)
    spec.ask(recorder, "remedy", cond)
