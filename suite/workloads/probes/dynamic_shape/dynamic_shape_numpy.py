"""NumPy: every operation finds out the shape of its result as it computes it."""

import numpy as np


def selected(x):
    return np.where(x > 0, x, 0).sum()


def places(x):
    return np.nonzero(x > 0)[0]


def run(stack, recorder):
    spec, observe = recorder.spec, recorder.spec.observe
    observe(recorder, "mask", spec.masked)
    observe(recorder, "where", selected)
    observe(recorder, "nonzero", places)
    recorder.lacks("size", "np.nonzero takes no size: it counts before it allocates")
    observe(recorder, "slice", spec.head)
    observe(recorder, "lengths", spec.squares)
    recorder.lacks("remedy", "nothing is compiled, so another length costs nothing")
