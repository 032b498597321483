"""The bias as one more row of the weights."""

# before: product
import numpy as np


def numpy_layer(x, w, b):
    ones = np.ones((len(x), 1), x.dtype)
    return np.maximum(np.hstack([x, ones]) @ np.vstack([w, b]), 0.0)
