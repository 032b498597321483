"""The product in float64."""

# before: product
import numpy as np


def numpy_layer(x, w, b):
    return np.maximum(x.astype(np.float64) @ w + b, 0.0).astype(np.float32)
