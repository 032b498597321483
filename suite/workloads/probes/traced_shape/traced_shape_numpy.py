"""NumPy: any integer is a shape, an array of no axes too."""

import numpy as np


def zeros(like, count):
    return np.zeros(count, like.dtype)


def reshaped(x):
    return x.reshape(np.array(x.shape).prod())


def run(stack, recorder):
    spec = recorder.spec
    spec.ask(recorder, "zeros", zeros)
    spec.ask(recorder, "static", zeros)
    spec.ask(recorder, "reshape", reshaped)
    spec.ask(recorder, "python", spec.reshaped_by_python)
