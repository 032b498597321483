"""Blocks of rows that fit into a cache."""

# before: softmax
import numpy as np


def numpy_softmax(x):
    found = np.empty_like(x)
    for start in range(0, len(x), 64):
        part = found[start : start + 64]
        rows = x[start : start + 64]
        np.subtract(rows, np.max(rows, axis=-1, keepdims=True), out=part)
        np.exp(part, out=part)
        part /= np.sum(part, axis=-1, keepdims=True)
    return found
