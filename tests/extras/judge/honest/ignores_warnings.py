"""Sets how NumPy treats floating-point errors."""

# before: softmax
import numpy as np


def numpy_softmax(x):
    with np.errstate(all="ignore"):
        e = np.exp(x - np.max(x, axis=-1, keepdims=True))
        return np.divide(e, np.sum(e, axis=-1, keepdims=True), out=e)
