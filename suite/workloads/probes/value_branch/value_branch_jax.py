"""JAX: an `if` can't test a traced value; `lax.cond` puts both branches into the program."""

import jax
import numpy as np


def run(stack, recorder):
    spec = recorder.spec

    def cond(x):
        return jax.lax.cond(x.sum() > 0, spec.doubled, spec.lessened, x)

    # Op by op each operation is a program of its own. They are compiled here, so that they aren't counted later.
    x = stack.put(np.ones(stack.dims["n"], np.float32))
    spec.python_if(x), spec.python_if(-x)
    for aspect, code in (("python_if", spec.python_if), ("static", spec.static_if), ("remedy", cond)):
        spec.observe(recorder, aspect, code)
