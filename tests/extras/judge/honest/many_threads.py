"""A thread for every hundred rows, and new ones in each call."""

# before: softmax
import concurrent.futures

import numpy as np


def part(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


def numpy_softmax(x):
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        return np.concatenate(list(pool.map(part, np.array_split(x, max(1, len(x) // 100)))))
