"""NumPy: arrays change, and slices are views."""

import numpy as np


def write_views(x):
    part, flat = x[1:3], x.reshape(-1)
    part[0] = 1.0
    flat[0] = 2.0
    return x


def change(x):
    x += 1.0


def add_one(x):
    return np.add(x, 1.0, out=x)


def set_first(x):
    x[0] = 1.0
    return x


def run(stack, recorder):
    spec, zeros = recorder.spec, np.zeros((4, 4), np.float32)

    spec.observe_assign(recorder)
    x = stack.put(zeros)
    written = stack.jit(write_views)(x)
    recorder.record("view", write_views, slice=float(written[1, 0] == 1), reshaped=float(written[0, 0] == 2))
    x = stack.put(zeros)
    stack.jit(change)(x)
    recorder.record("compiled", change, visible=float(x[0, 0] == 1))
    recorder.lacks("donate", "NumPy has no donated arguments; a function writes into the array that `out` names")
    for aspect, code in (("own_way", add_one), ("one_value", set_first)):
        spec.observe_update(recorder, aspect, code, stack.jit(code), lambda x: x.ctypes.data)
