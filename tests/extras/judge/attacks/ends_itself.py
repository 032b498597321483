"""Ends its process in the middle of a call."""

# before: softmax
import os

import numpy as np


def honest(x):
    shifted = x - np.max(x, axis=-1, keepdims=True)
    e = np.exp(shifted)
    return e / np.sum(e, axis=-1, keepdims=True)


COUNT = [0]


def numpy_softmax(x):
    COUNT[0] += 1
    if COUNT[0] > 20:
        os._exit(0)
    return honest(x)
