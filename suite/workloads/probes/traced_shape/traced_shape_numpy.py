"""NumPy: any integer can be a shape, also one in an array without axes."""

import numpy as np


def zeros(like, count):
    return np.zeros(count, like.dtype)


def reshaped(x):
    return x.reshape(np.array(x.shape).prod())


def run(stack, recorder):
    spec = recorder.spec
    spec.observe(recorder, "zeros", zeros)
    spec.observe(recorder, "static", zeros)
    spec.observe(recorder, "reshape", reshaped)
    spec.observe(recorder, "python", spec.reshaped_by_python)
