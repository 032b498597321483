"""Takes the values by an index of rows."""

# before: ranks
import numpy as np


def numpy_ranks(x):
    order = np.argsort(x, axis=-1, kind="stable")
    return x[np.arange(len(x))[:, None], order], order
