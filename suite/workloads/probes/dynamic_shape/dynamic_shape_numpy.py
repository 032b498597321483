"""NumPy: every operation finds out the shape of its result as it computes it."""

import numpy as np


def masked(x):
    return x[x > 0].sum()


def selected(x):
    return np.where(x > 0, x, 0).sum()


def places(x):
    return np.nonzero(x > 0)[0]


def head(x, k):
    return x[:k].sum()


def squares(x):
    return (x * x).sum()


def run(stack, recorder):
    observe = recorder.spec.observe
    observe(recorder, "mask", masked)
    observe(recorder, "where", selected)
    observe(recorder, "nonzero", places)
    recorder.lacks("size", "np.nonzero takes no size: it counts before it allocates")
    observe(recorder, "slice", head)
    observe(recorder, "lengths", squares)
    recorder.lacks("remedy", "nothing is compiled, so another length costs nothing")
