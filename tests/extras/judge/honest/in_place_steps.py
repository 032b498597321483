"""The steps in place, in the result."""

# before: smooth
import numpy as np


def numpy_smooth(x):
    found = np.multiply(x, np.float32(0.1))
    for before, now in zip(found, found[1:]):
        now += np.float32(0.9) * before
    return found
