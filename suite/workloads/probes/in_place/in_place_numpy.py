"""NumPy: arrays change, and slices are views."""

import numpy as np


def assign(x):
    x[0] = 1.0
    return x


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
    n, zeros = stack.dims["n"], np.zeros((4, 4), np.float32)

    x = stack.put(zeros)
    recorder.tell("assign", assign, changed=float(stack.jit(assign)(x)[0, 0] == 1))
    x = stack.put(zeros)
    written = stack.jit(write_views)(x)
    recorder.tell("view", write_views, slice=float(written[1, 0] == 1), reshaped=float(written[0, 0] == 2))
    x = stack.put(zeros)
    stack.jit(change)(x)
    recorder.tell("compiled", change, visible=float(x[0, 0] == 1))
    recorder.lacks("donate", "NumPy has no arguments that are given away; a function writes where `out` says")
    for aspect, code in (("own_way", add_one), ("one_value", set_first)):
        x, update = stack.put(np.zeros(n, np.float32)), stack.jit(code)
        before = x.ctypes.data
        stays = float(update(x).ctypes.data == before)
        taken = recorder.seconds(lambda update=update, x=x: update(x), 10)
        recorder.tell(aspect, code, seconds=taken, address_stays=stays, bytes=x.nbytes)
