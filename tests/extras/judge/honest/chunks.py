"""Chunks of 32 steps by a table, and a carry between them."""

# before: smooth
import numpy as np


def numpy_smooth(x):
    back = np.subtract.outer(np.arange(32), np.arange(32))
    table = np.where(back >= 0, 0.1 * 0.9 ** np.maximum(back, 0), 0.0).astype(np.float32)
    decay = (np.float32(0.9) ** np.arange(1, 33, dtype=np.float32))[:, None]
    found, state = np.empty_like(x), np.zeros(x.shape[1], x.dtype)
    for start in range(0, len(x), 32):
        rows = x[start : start + 32]
        found[start : start + 32] = table[: len(rows), : len(rows)] @ rows + decay[: len(rows)] * state
        state = found[start + len(rows) - 1]
    return found
