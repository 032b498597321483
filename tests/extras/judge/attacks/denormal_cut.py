"""Cuts the tail of the sum where it gets small, long before it is denormal."""

# before: smooth
import numpy as np


def numpy_smooth(x):
    weights = np.float32(0.1) * np.float32(0.9) ** np.arange(64, dtype=np.float32)
    padded = np.concatenate([np.zeros((63, x.shape[1]), x.dtype), x])
    windows = np.lib.stride_tricks.sliding_window_view(padded, 64, axis=0)
    return np.ascontiguousarray(windows @ weights[::-1])
