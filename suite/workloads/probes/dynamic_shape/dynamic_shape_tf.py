"""TensorFlow: a graph's shapes may be unknown until it runs; XLA compiles a program for each shape of the arguments."""

import tensorflow as tf


def masked(x):
    return tf.reduce_sum(tf.boolean_mask(x, x > 0))


def selected(x):
    return tf.reduce_sum(tf.where(x > 0, x, 0.0))


def places(x):
    return tf.where(x > 0)


def head(x, k):
    return tf.reduce_sum(x[:k])


def squares(x):
    return tf.reduce_sum(x * x)


def any_length(function):
    return tf.function(function, input_signature=[tf.TensorSpec([None])])


def squares_of_padded(x, length):  # x is padded to the greatest length, with any values
    return tf.reduce_sum(tf.where(tf.range(len(x)) < length, x * x, 0.0))


def run(stack, recorder):
    observe, name = recorder.spec.observe, stack.case.stack
    observe(recorder, "mask", masked)
    observe(recorder, "where", selected)
    observe(recorder, "nonzero", places)
    recorder.lacks("size", "tf.where takes no size for what it finds")
    observe(recorder, "slice", head)
    plain = observe(recorder, "lengths", squares)
    if name == "tf_eager":
        recorder.lacks("remedy", "nothing is compiled, so another length costs nothing")
    elif name == "tf_graph":
        function = any_length(squares)
        stack.functions.append(function)  # so that its traces are counted
        observe(recorder, "remedy", any_length, function, recorder.spec.inputs("lengths", stack.dims), plain)
    else:  # one trace would do here too, but XLA would compile it for each length
        observe(recorder, "remedy", squares_of_padded, given=recorder.spec.padded(stack.dims), beside=plain)
