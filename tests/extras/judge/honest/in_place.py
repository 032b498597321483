"""Works in place, in an array of its own."""

# before: softmax
import numpy as np


def numpy_softmax(x):
    e = x - np.max(x, axis=-1, keepdims=True)
    np.exp(e, out=e)
    e /= np.sum(e, axis=-1, keepdims=True)
    return e
