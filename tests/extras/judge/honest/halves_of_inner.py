"""The inner length in two halves: another order of summation."""

# before: product
import numpy as np


def numpy_layer(x, w, b):
    middle = x.shape[1] // 2
    return np.maximum(x[:, :middle] @ w[:middle] + x[:, middle:] @ w[middle:] + b, 0.0)
