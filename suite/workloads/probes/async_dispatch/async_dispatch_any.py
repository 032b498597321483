"""Whether a call returns before its work is done: one call, many, and a benchmark that forgets to wait."""

from statistics import median
from time import perf_counter

import numpy as np

SAMPLES = 10
LONG = 1e-3  # seconds; a dispatch is short compared with a call that takes longer
REPEATS, TRIALS = 10, 5  # of the benchmark that forgets to wait
WORDS = "the first call that blocks is number {}"


def product(y, x):
    return y @ x


def call(stack, function, y, x):
    start = perf_counter()
    y = function(y, x)
    returned = perf_counter() - start
    stack.wait(None, y)
    return returned, perf_counter() - start


def submit(function, y, x, calls):
    taken = []
    for _ in range(calls):
        start = perf_counter()
        y = function(y, x)
        taken.append(perf_counter() - start)
    return taken, y


def forget_to_wait(function, y, x):
    start = perf_counter()
    for _ in range(REPEATS):
        y = function(y, x)
    return (perf_counter() - start) / REPEATS, y


def run(stack, recorder):
    spec, function = stack.workload.spec, stack.jit(product)
    n = stack.dims["n"]
    while True:
        # A projection: its product with itself is itself, however long the chain.
        x = stack.put(np.full((n, n), 1 / n, np.float32))
        call(stack, function, x, x)  # it may compile
        samples = [call(stack, function, x, x) for _ in range(SAMPLES)]
        if min(completed for _, completed in samples) > LONG:
            break
        n *= 2
    returned, completed = zip(*samples, strict=True)
    share = median(returned) / median(completed)
    recorder.record("dispatch", call, seconds=returned, completed_seconds=completed, share=share, n=n)

    taken, y = submit(function, x, x, spec.CALLS)
    stack.wait(None, y)
    depth = spec.blocked_at(taken, median(completed))
    words = WORDS.format(depth) if depth and depth > 1 else ""
    recorder.record("depth", submit, words=words, dispatch_seconds=taken, completed_seconds=completed, depth=depth)

    reported = []
    for _ in range(TRIALS):
        seconds, y = forget_to_wait(function, x, x)
        stack.wait(None, y)
        reported.append(seconds)
    recorder.record(
        "forgotten",
        forget_to_wait,
        reported_seconds=reported,
        completed_seconds=completed,
        factor=median(completed) / median(reported),
    )
