"""Returns one buffer again and again: a call's result is the last call's."""

# before: softmax
import numpy as np


def honest(x):
    shifted = x - np.max(x, axis=-1, keepdims=True)
    e = np.exp(shifted)
    return e / np.sum(e, axis=-1, keepdims=True)


BUFFERS = {}


def numpy_softmax(x):
    found = BUFFERS.setdefault(x.shape, np.empty_like(x))
    np.subtract(x, np.max(x, axis=-1, keepdims=True), out=found)
    np.exp(found, out=found)
    found /= np.sum(found, axis=-1, keepdims=True)
    return found
