"""The product by einsum, as it finds best."""

# before: product
import numpy as np


def numpy_layer(x, w, b):
    return np.maximum(np.einsum("ri,ic->rc", x, w, optimize=True) + b, 0.0)
