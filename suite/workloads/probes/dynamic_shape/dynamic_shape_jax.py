"""JAX: under jit all shapes are known before the values; an array whose shape would depend on values is padded."""

import jax.numpy as jnp


def selected(x):
    return jnp.where(x > 0, x, 0).sum()


def places(x):
    return jnp.nonzero(x > 0)[0]


def places_in_size(x):
    return jnp.nonzero(x > 0, size=x.size, fill_value=-1)[0]


def squares_of_padded(x, length):  # x is padded to the greatest length, with any values
    return jnp.where(jnp.arange(x.size) < length, x * x, 0).sum()


def run(stack, recorder):
    spec, observe = recorder.spec, recorder.spec.observe
    observe(recorder, "mask", spec.masked)
    observe(recorder, "where", selected)
    observe(recorder, "nonzero", places)
    observe(recorder, "size", places_in_size)
    observe(recorder, "slice", spec.head)
    plain = observe(recorder, "lengths", spec.squares)
    observe(recorder, "remedy", squares_of_padded, given=spec.padded(stack.dims), beside=plain)
