"""A function that is called once, and then again with one thing changed: is it traced and compiled again?"""

import numpy as np

AGAIN = 10  # calls with nothing changed, timed


def scaled(x, factor, mode):
    return x * factor + 1 if mode == "add" else x * factor - 1


def run(stack, recorder):
    n = stack.dims["n"]
    function = stack.jit(scaled, static=(2,))

    def calling(shape=(n,), dtype="float32", fill=1.0, factor=2.0, mode="add"):
        x = stack.put(np.full(shape, fill, dtype))
        return lambda: function(x, factor, mode)

    recorder.watch(calling())
    changes = {
        "same": {},
        "value": {"fill": 2.0},
        "shape": {"shape": (n + 1,)},
        "rank": {"shape": (n, 1)},
        "dtype": {"dtype": "float16"},
        "scalar": {"factor": 3.0},
        "static": {"mode": "subtract"},
    }
    for aspect, change in changes.items():
        action = calling(**change)
        seen = recorder.watch(action)
        recorder.record(aspect, scaled, seen, again_seconds=None if seen.error else recorder.seconds(action, AGAIN))
    actions = [calling(factor=4.0 + more) for more in range(stack.workload.spec.MORE)]
    recorder.record("scalars", scaled, recorder.watch(lambda: [action() for action in actions]))
