"""fusion in NumPy: each operation is a call of a ufunc, which is a pass over the memory."""

import numpy as np

ALPHA = 1.67
LAMBDA = 1.05


def selu(x):
    return LAMBDA * np.where(x > 0, x, ALPHA * np.expm1(x))


def chain(x):
    for _ in range(10):
        x = x * 0.5 + 1.0
    return x


def run(stack, recorder):
    spec = stack.workload.spec
    operations = {selu: spec.OPERATIONS["selu"], chain: spec.OPERATIONS["chain"]}
    spec.observe(stack, recorder, {"selu": selu, "chain": chain}, lambda function, x: operations[function])
