"""Functions with side effects, in plain Python: each stack runs them in its own way."""

import io
from contextlib import redirect_stdout

import numpy as np

CALLED = []
SCALE = 1.0


def printing(x):
    print("called")
    return x * 2


def appending(x):
    CALLED.append("called")
    return x * 2


def reading(x):
    return x * SCALE


def run(stack, recorder):
    n = stack.dims["n"]
    inputs = [stack.put(np.ones(length, np.float32)) for length in (n, 2 * n) for _ in range(5)]

    def call(code):
        function, results = stack.jit(code), []

        def call_all():
            for number, x in enumerate(inputs, 1):
                globals()["SCALE"] = float(number)
                results.append(stack.fetch(function(x)))
            return results

        return recorder.watch(call_all)

    with redirect_stdout(io.StringIO()) as printed:
        seen = call(printing)
    recorder.record("print", printing, seen, calls=len(inputs), times=printed.getvalue().count("called"))
    seen = call(appending)
    recorder.record("append", appending, seen, calls=len(inputs), times=len(CALLED))
    seen = call(reading)
    right = sum(np.all(result == number) for number, result in enumerate(seen.value or [], 1))
    recorder.record("global", reading, seen, calls=len(inputs), right=int(right))
