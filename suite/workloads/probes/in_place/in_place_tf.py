"""TensorFlow: tensors never change, variables do."""

import numpy as np
import tensorflow as tf


def write_views(variable):
    variable[1:3].assign(tf.ones([2, 4]))  # tf.reshape returns a tensor, which can't be written to
    return variable.read_value()


def add_one(variable):
    variable.assign_add(tf.ones_like(variable))


def set_first(variable):
    variable[0].assign(1.0)


def address(variable):
    """Returns the address of a variable's values; None if it can't be read. A read shares the variable's memory, unless
    the variable is on another device or has been written to in part: then each read is a copy, with its own address.
    Both reads are freed on return, before the variable changes again."""
    first, second = (np.asarray(variable.value()) for _ in range(2))
    return first.ctypes.data if first.ctypes.data == second.ctypes.data else None


def run(stack, recorder):
    n, zeros = stack.dims["n"], np.zeros((4, 4), np.float32)

    recorder.spec.observe_assign(recorder)
    variable = tf.Variable(stack.put(zeros))
    written = stack.fetch(stack.jit(write_views)(variable))
    recorder.record("view", write_views, slice=float(written[1, 0] == 1))
    variable = tf.Variable(stack.put(zeros))
    stack.jit(add_one)(variable)
    recorder.record("compiled", add_one, visible=float(stack.fetch(variable)[0, 0] == 1))
    recorder.lacks("donate", "TensorFlow has no donated arguments: an operation reuses memory that nothing else holds")
    for aspect, code in (("own_way", add_one), ("one_value", set_first)):
        variable, update = tf.Variable(tf.zeros([n])), stack.jit(code)
        stack.wait(None, update(variable))
        before = address(variable)
        update(variable)
        after = address(variable)
        stays = None if before is None or after is None else float(after == before)
        taken = recorder.seconds(lambda update=update, variable=variable: update(variable), 10)
        recorder.record(aspect, code, seconds=taken, address_stays=stays, bytes=4 * n)
