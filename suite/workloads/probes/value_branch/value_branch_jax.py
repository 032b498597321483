"""JAX: a traced value can't be asked; `lax.cond` has both branches in the program."""

import jax
import numpy as np


def python_if(x):
    if x.sum() > 0:
        return x * 2
    return x - 1


def static_if(x, double):
    if double:
        return x * 2
    return x - 1


def cond(x):
    return jax.lax.cond(x.sum() > 0, doubled, lessened, x)


def doubled(x):
    return x * 2


def lessened(x):
    return x - 1


def run(stack, recorder):
    # Op by op each operation is a program of its own: compiled here, so that those of a branch aren't counted later.
    x = stack.put(np.ones(stack.dims["n"], np.float32))
    python_if(x), python_if(-x)
    for aspect, code in (("python_if", python_if), ("static", static_if), ("remedy", cond)):
        recorder.spec.ask(stack, recorder, aspect, code, doubled)
