"""Remembers powers inside one call, by a cache of its own."""

# before: smooth
import functools

import numpy as np


def numpy_smooth(x):
    @functools.cache
    def power(n):
        return np.float32(0.9) ** n

    found = [np.float32(0.1) * x[0]]
    for row in x[1:]:
        found.append(power(1) * found[-1] + np.float32(0.1) * row)
    return np.stack(found)
