"""Prints, warns, and reads a clock."""

# before: softmax
import sys
import time

import numpy as np


def numpy_softmax(x):
    start = time.perf_counter()
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    found = e / np.sum(e, axis=-1, keepdims=True)
    print(time.perf_counter() - start, file=sys.stderr)
    return found
