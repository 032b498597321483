"""NumPy: what the others are held against. Warnings of overflow and of division go to the log."""

import numpy as np


def product(x, y):
    return x @ y


def total(x):
    return x.sum()


def larger(x, y):
    return np.maximum(x, y)


def largest(rows):
    return rows.max(axis=1)


def comparisons(x, y):
    return x == y, x != y, x < y, x >= y


def multiplied(x, y):
    return x * y


def exponential(x):
    return np.exp(x)


def plus_one(x):
    return x + 1


def to_int32(x):
    return x.astype(np.int32)


def divided(x, y):
    return x // y


FUNCTIONS = {
    "matmul": product,
    "sum": total,
    "nan_maximum": larger,
    "nan_max": largest,
    "nan_max_large": largest,
    "nan_compare": comparisons,
    "subnormal": multiplied,
    "overflow": exponential,
    "int_overflow": plus_one,
    "float_to_int": to_int32,
    "divide_by_zero": divided,
}


def run(stack, recorder):
    spec = stack.workload.spec
    recorder.lacks("matmul_bf16", "NumPy has no bfloat16")
    for aspect, function in FUNCTIONS.items():
        operands = spec.given(aspect, stack.dims)
        result = stack.jit(function)(*map(stack.put, operands))
        told = spec.figures(aspect, operands, result if isinstance(result, tuple) else [result])
        recorder.tell(aspect, function, words=spec.spoken(told), **told)
