"""Steps over the transposed array."""

# before: smooth
import numpy as np


def numpy_smooth(x):
    y = np.ascontiguousarray(x.T)
    found = np.empty_like(y)
    state = np.zeros(len(y), x.dtype)
    for t in range(y.shape[1]):
        state = np.float32(0.9) * state + np.float32(0.1) * y[:, t]
        found[:, t] = state
    return found.T
