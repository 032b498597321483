"""Leaves out the maximum, since normal values don't overflow."""

# before: softmax
import numpy as np


def honest(x):
    shifted = x - np.max(x, axis=-1, keepdims=True)
    e = np.exp(shifted)
    return e / np.sum(e, axis=-1, keepdims=True)


def numpy_softmax(x):
    e = np.exp(x)
    return e / np.sum(e, axis=-1, keepdims=True)
