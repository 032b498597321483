"""The bias and the maximum in place."""

# before: product
import numpy as np


def numpy_layer(x, w, b):
    y = x @ w
    y += b
    return np.maximum(y, 0.0, out=y)
