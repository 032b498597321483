"""Two threads of its own, each with half of the rows."""

# before: softmax
import concurrent.futures

import numpy as np

POOL = concurrent.futures.ThreadPoolExecutor(2)


def part(x, found):
    np.subtract(x, np.max(x, axis=-1, keepdims=True), out=found)
    np.exp(found, out=found)
    found /= np.sum(found, axis=-1, keepdims=True)


def numpy_softmax(x):
    found, middle = np.empty_like(x), len(x) // 2
    list(POOL.map(part, (x[:middle], x[middle:]), (found[:middle], found[middle:])))
    return found
