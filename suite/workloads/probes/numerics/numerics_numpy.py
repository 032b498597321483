"""NumPy: its own float32 and int32 arithmetic. Its warnings of overflow and division by zero go to the log."""

import numpy as np


def larger(x, y):
    return np.maximum(x, y)


def exponential(x):
    return np.exp(x)


def to_int32(x):
    return x.astype(np.int32)


def run(stack, recorder):
    recorder.lacks("matmul_bf16", "NumPy has no bfloat16")
    recorder.spec.observe(recorder, nan_maximum=larger, overflow=exponential, float_to_int=to_int32)
