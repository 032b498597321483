"""Runs the collector in each call."""

# before: softmax
import gc

import numpy as np


def numpy_softmax(x):
    gc.collect(0)
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)
