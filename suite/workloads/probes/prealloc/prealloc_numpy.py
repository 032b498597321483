"""NumPy: memory comes from the C library, an array at a time."""

import sys


def first_array(target):
    import numpy as np

    return np.ones(1024, np.float32)


def run(stack, recorder):
    stack.workload.spec.ask(
        stack,
        recorder,
        __file__,
        first_array,
        {},
        "NumPy takes memory an array at a time; there is nothing to turn off",
    )


if __name__ == "__main__":
    import json

    from spec import weigh

    print(json.dumps(weigh("numpy", first_array, sys.argv[2])))
