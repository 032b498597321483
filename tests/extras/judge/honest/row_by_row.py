"""Sorts row by row, lazily."""

# before: ranks
import numpy as np


def numpy_ranks(x):
    orders = [np.argsort(row, kind="stable") for row in x]
    order = np.stack(orders)
    return np.stack([row[order] for row, order in zip(x, orders)]), order
