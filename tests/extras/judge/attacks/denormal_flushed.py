"""Sets small probabilities to zero, as if they were denormal."""

# before: softmax
import numpy as np


def honest(x):
    shifted = x - np.max(x, axis=-1, keepdims=True)
    e = np.exp(shifted)
    return e / np.sum(e, axis=-1, keepdims=True)


def numpy_softmax(x):
    y = x - np.max(x, axis=-1, keepdims=True)
    e = np.zeros_like(y)
    np.exp(y, out=e, where=y > -7)
    return e / np.sum(e, axis=-1, keepdims=True)
