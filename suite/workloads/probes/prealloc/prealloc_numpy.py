"""NumPy: memory comes from the C library, an array at a time."""

import sys


def first_array(target):
    import numpy as np

    return np.ones(1024, np.float32)


def run(stack, recorder):
    stack.workload.spec.observe(
        stack,
        recorder,
        __file__,
        first_array,
        {},
        "NumPy takes memory an array at a time; there is nothing to turn off",
    )


if __name__ == "__main__":
    import json

    from spec import memory_taken

    print(json.dumps(memory_taken("numpy", first_array, sys.argv[2])))
