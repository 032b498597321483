"""JAX: under jit all shapes are known before the values; an array whose shape would depend on values is padded."""

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


def squares_of_padded(x, length):  # x is padded to the greatest length, with any values
    return jnp.where(jnp.arange(x.size) < length, x * x, 0).sum()


def run(stack, recorder):
    observe = recorder.spec.observe
    observe(recorder, "mask", masked)
    observe(recorder, "where", selected)
    observe(recorder, "nonzero", places)
    observe(recorder, "size", places_in_size)
    observe(recorder, "slice", head)
    plain = observe(recorder, "lengths", squares)
    observe(recorder, "remedy", squares_of_padded, given=recorder.spec.padded(stack.dims), beside=plain)
