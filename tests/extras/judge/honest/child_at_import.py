"""Starts a child at import that ends at once."""

# before: softmax
import subprocess

import numpy as np

subprocess.run(["true"], check=False)


def numpy_softmax(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)
