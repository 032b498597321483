"""NumPy: any integer can be a shape, also one in an array without axes."""

import numpy as np


def zeros(like, count):
    return np.zeros(count, like.dtype)


def reshaped(x):
    return x.reshape(np.array(x.shape).prod())


def run(stack, recorder):
    recorder.spec.observe(recorder, zeros, reshaped)
