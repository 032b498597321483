"""JAX: under jit all shapes are known before there are values; what would depend on them is padded and masked."""

import jax.numpy as jnp


def masked(x):
    return x[x > 0].sum()


def selected(x):
    return jnp.where(x > 0, x, 0).sum()


def places(x):
    return jnp.nonzero(x > 0)[0]


def places_in_size(x):
    return jnp.nonzero(x > 0, size=x.size, fill_value=-1)[0]


def head(x, k):
    return x[:k].sum()


def squares(x):
    return (x * x).sum()


def squares_of_padded(x, length):  # x is as long as the longest, zeros at its end or anything else
    return jnp.where(jnp.arange(x.size) < length, x * x, 0).sum()


def run(stack, recorder):
    ask = recorder.spec.ask
    ask(recorder, "mask", masked)
    ask(recorder, "where", selected)
    ask(recorder, "nonzero", places)
    ask(recorder, "size", places_in_size)
    ask(recorder, "slice", head)
    plain = ask(recorder, "lengths", squares)
    ask(recorder, "remedy", squares_of_padded, given=recorder.spec.padded(stack.dims), beside=plain)
