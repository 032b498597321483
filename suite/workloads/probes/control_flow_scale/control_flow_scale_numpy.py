"""NumPy: a loop is Python's."""

import numpy as np


def unrolled(x, ws):
    for w in ws:
        x = np.tanh(x @ w)
    return x


def run(stack, recorder):
    recorder.spec.observe(stack, recorder, "unrolled", unrolled)
    recorder.lacks("scanned", "NumPy has no loop but Python's")
    for aspect in ("batch", "sequence"):
        recorder.spec.observe(stack, recorder, aspect, unrolled)
