"""Chooses an algorithm by the shape, and both are right."""

# before: softmax
import numpy as np


def numpy_softmax(x):
    if x.shape == (256, 384):
        e = np.exp(x - x.max(-1, keepdims=True))
        e /= e.sum(-1, keepdims=True)
        return e
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)
