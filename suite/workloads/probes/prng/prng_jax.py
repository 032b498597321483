"""JAX: random functions take keys, which are values that nothing changes. There is no global state."""

import jax


def same_seed(n):
    first = jax.random.normal(jax.random.key(0), (n,))
    return first, jax.random.normal(jax.random.key(0), (n,))


def two_draws(n):
    key = jax.random.key(0)
    return jax.random.normal(key, (n,)), jax.random.normal(key, (n,))


def split(n):
    first, second = jax.random.split(jax.random.key(0))
    return jax.random.normal(first, (n,)), jax.random.normal(second, (n,))


def draw(key, n):
    return jax.random.normal(key, (n,))


def draw_from_split(key, n):
    first, _ = jax.random.split(key)
    return jax.random.normal(first, (n,))


def uniforms():
    return jax.random.uniform(jax.random.key(0), (1000,))


def run(stack, recorder):
    compare, n, many = recorder.spec.compare, stack.dims["n"], stack.dims["many"]
    function, splitting = stack.jit(draw, static=(1,)), stack.jit(draw_from_split, static=(1,))
    key = jax.random.key(0)

    compare(recorder, "same_seed", same_seed, lambda: same_seed(n))
    compare(recorder, "two_draws", two_draws, lambda: two_draws(n))
    compare(recorder, "split", split, lambda: split(n), seeds=1)
    compare(recorder, "compiled", draw, lambda: (draw(key, n), function(key, n)))
    compare(recorder, "compiled_seed", draw, lambda: (function(key, n), function(jax.random.key(0), n)))
    compare(recorder, "compiled_draws", draw, lambda: (function(key, n), function(key, n)))
    compare(recorder, "compiled_leaves", draw, lambda: (function(key, n), draw(key, n)))
    compare(recorder, "compiled_stream", draw_from_split, lambda: (draw_from_split(key, n), splitting(key, n)))
    recorder.spec.observe_generator(recorder, uniforms, stack.fetch(uniforms()), uniforms)
    stack.wait(None, function(key, many))
    recorder.record("normals", draw, seconds=recorder.seconds(lambda: function(key, many), 3))
