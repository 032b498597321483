"""The inner length in blocks of 64: again another order."""

# before: product
import numpy as np


def numpy_layer(x, w, b):
    y = np.broadcast_to(b, (len(x), w.shape[1])).copy()
    for start in range(0, x.shape[1], 64):
        y += x[:, start : start + 64] @ w[start : start + 64]
    return np.maximum(y, 0.0, out=y)
