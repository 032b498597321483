"""What an operation costs: a chain of additions and subtractions of small arrays."""

from statistics import median

import numpy as np

SAMPLES = 20


def chain(x, y, ops):
    for _ in range(ops // 2):
        x = x + y
        x = y - x
    return x


def run(stack, recorder):
    ops = stack.dims["ops"]
    x, y = (stack.put(np.full(stack.dims["n"], value, np.float32)) for value in (1, 2))
    function = stack.jit(chain, static=(2,))
    seen = recorder.watch(lambda: function(x, y, ops))
    taken = [] if seen.error else recorder.seconds(lambda: function(x, y, ops), SAMPLES)
    figures = {"seconds": taken, "per_op": median(taken) / ops} if taken else {}
    recorder.record("chain", chain, seen, ops=ops, first_seconds=seen.seconds, **figures)
