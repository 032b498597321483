"""TensorFlow: tf.function unrolls a loop over a list; AutoGraph turns a loop over a tensor into a `tf.while_loop`."""

import tensorflow as tf


def unrolled(x, ws):
    for w in ws:  # a list
        x = tf.tanh(x @ w)
    return x


def scanned(x, ws):
    for w in ws:  # one tensor
        x = tf.tanh(x @ w)
    return x


def operations(code, function, *arguments):
    return len(function.get_concrete_function(*arguments).graph.get_operations())


def run(stack, recorder):
    counted = {} if stack.case.stack == "tf_eager" else {"operations": operations}
    recorder.spec.observe(stack, recorder, "unrolled", unrolled, **counted)
    recorder.spec.observe(stack, recorder, "scanned", scanned, **counted)
    for aspect in ("batch", "sequence"):
        recorder.spec.observe(stack, recorder, aspect, unrolled, **counted)
