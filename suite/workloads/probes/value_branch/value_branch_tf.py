"""TensorFlow: AutoGraph makes a `tf.cond` of an `if` on a tensor, in whatever `tf.function` traces."""

import tensorflow as tf


def python_if(x):
    if tf.reduce_sum(x) > 0:
        return x * 2
    return x - 1


def static_if(x, double):
    if double:
        return x * 2
    return x - 1


def cond(x):
    return tf.cond(tf.reduce_sum(x) > 0, lambda: x * 2, lambda: x - 1)


def doubled(x):
    return x * 2


def run(stack, recorder):
    converted = "" if stack.case.stack == "tf_eager" else "AutoGraph makes a tf.cond of the if"
    recorder.spec.ask(stack, recorder, "python_if", python_if, doubled, words=converted)
    recorder.spec.ask(stack, recorder, "static", static_if, doubled)
    recorder.spec.ask(stack, recorder, "remedy", cond, doubled)
