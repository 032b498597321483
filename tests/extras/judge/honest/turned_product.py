"""The product of the transposed operands."""

# before: product
import numpy as np


def numpy_layer(x, w, b):
    return np.maximum((w.T @ x.T).T + b, 0.0)
