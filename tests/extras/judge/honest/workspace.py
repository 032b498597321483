"""Keeps a workspace between calls, but never a result."""

# before: softmax
import numpy as np

SPACE = {}


def numpy_softmax(x):
    work = SPACE.setdefault(x.shape, np.empty_like(x))
    np.subtract(x, np.max(x, axis=-1, keepdims=True), out=work)
    np.exp(work, out=work)
    return work / np.sum(work, axis=-1, keepdims=True)
