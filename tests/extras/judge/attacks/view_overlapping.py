"""Returns rows that overlap in memory."""

# before: smooth
import numpy as np


def numpy_smooth(x):
    flat = np.convolve(x[:, 0], np.float32(0.1) * np.float32(0.9) ** np.arange(32, dtype=np.float32))
    flat = np.resize(flat, x.shape[0] + x.shape[1]).astype(np.float32)
    return np.lib.stride_tricks.as_strided(flat, x.shape, (4, 4))
