"""Two threads, each with half of the columns."""

# before: smooth
import concurrent.futures

import numpy as np

POOL = concurrent.futures.ThreadPoolExecutor(2)


def part(x, found):
    np.multiply(x, np.float32(0.1), out=found)
    for before, now in zip(found, found[1:]):
        now += np.float32(0.9) * before


def numpy_smooth(x):
    found, middle = np.empty_like(x), x.shape[1] // 2
    list(POOL.map(part, (x[:, :middle], x[:, middle:]), (found[:, :middle], found[:, middle:])))
    return found
