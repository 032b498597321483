"""By one product with a table, which is made when a length is first seen."""

# before: smooth
import numpy as np

TABLES = {}


def numpy_smooth(x):
    n = len(x)
    if n not in TABLES:
        back = np.subtract.outer(np.arange(n), np.arange(n))
        TABLES[n] = np.where(back >= 0, 0.1 * 0.9 ** np.maximum(back, 0), 0.0).astype(np.float32)
    return TABLES[n] @ x
