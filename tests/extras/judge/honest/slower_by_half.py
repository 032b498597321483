"""Computes the exponential twice."""

# before: softmax
import numpy as np


def numpy_softmax(x):
    shifted = x - np.max(x, axis=-1, keepdims=True)
    return np.exp(shifted) / np.sum(np.exp(shifted), axis=-1, keepdims=True)
