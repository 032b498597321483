"""What makes a function be traced and compiled again: it is called once, then with one thing changed, twice."""

import numpy as np


def scaled(x, factor, mode):
    return x * factor + 1 if mode == "add" else x * factor - 1


def run(stack, recorder):
    n = stack.dims["n"]
    function = stack.jit(scaled, static=(2,))

    def call(shape=(n,), dtype="float32", fill=1.0, factor=2.0, mode="add"):
        x = stack.put(np.full(shape, fill, dtype))
        return recorder.watch(lambda: function(x, factor, mode))

    call()
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
        seen = call(**change)
        recorder.tell(aspect, scaled, seen, again_seconds=call(**change).seconds)
