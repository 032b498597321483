"""JAX: tracing unrolls Python's loops; `lax.scan` is one loop in the program."""

import jax
import jax.numpy as jnp


def unrolled(x, ws):
    for w in ws:
        x = jnp.tanh(x @ w)
    return x


def scanned(x, ws):
    return jax.lax.scan(lambda x, w: (jnp.tanh(x @ w), None), x, ws)[0]


def operations(code, function, *arguments):
    return len(jax.make_jaxpr(code)(*arguments).eqns)


def run(stack, recorder):
    recorder.spec.observe(stack, recorder, "unrolled", unrolled, operations)
    recorder.spec.observe(stack, recorder, "scanned", scanned, operations)
    for aspect in ("batch", "sequence"):
        recorder.spec.observe(stack, recorder, aspect, unrolled, operations)
