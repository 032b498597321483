"""Sorts whole numbers that hold value and place together."""

# before: ranks
import numpy as np


def numpy_ranks(x):
    both = (x.astype(np.int64) << 32) | np.arange(x.shape[-1])
    both.sort(axis=-1)
    return (both >> 32).astype(x.dtype), both & 0xFFFFFFFF
