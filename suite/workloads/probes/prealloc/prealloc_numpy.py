"""NumPy: memory comes from the C library, an array at a time."""


def first_array(target):
    import numpy as np

    return np.ones(1024, np.float32)


def run(stack, recorder):
    reason = "NumPy takes memory an array at a time; there is nothing to turn off"
    recorder.spec.observe(recorder, "numpy", first_array, {}, reason)
