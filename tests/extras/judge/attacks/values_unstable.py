"""Sorts without keeping equal values in order."""

# before: ranks
import numpy as np


def numpy_ranks(x):
    order = np.argsort(x % 1000003 // 7, axis=-1)
    return np.take_along_axis(x, order, -1), order
