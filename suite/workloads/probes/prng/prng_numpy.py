"""NumPy: generators, objects with a state of their own. The global one, `np.random.seed`, is called legacy."""

import numpy as np


def same_seed(n):
    first = np.random.default_rng(0).standard_normal(n, dtype=np.float32)
    return first, np.random.default_rng(0).standard_normal(n, dtype=np.float32)


def two_draws(n):
    generator = np.random.default_rng(0)
    return generator.standard_normal(n, dtype=np.float32), generator.standard_normal(n, dtype=np.float32)


def split(n):
    first, second = np.random.default_rng(0).spawn(2)
    return [stream.standard_normal(n, dtype=np.float32) for stream in (first, second, first)]


def draw(generator, n):
    return generator.standard_normal(n, dtype=np.float32)


def uniforms():
    return np.random.default_rng(0).random(1000, dtype=np.float32)


def run(stack, recorder):
    compare, n, many = recorder.spec.compare, stack.dims["n"], stack.dims["many"]
    function = stack.jit(draw, static=(1,))

    def inside_and_outside():
        return draw(np.random.default_rng(0), n), function(np.random.default_rng(0), n)

    def seeded_twice():
        return function(np.random.default_rng(0), n), function(np.random.default_rng(0), n)

    def both_from(first, second):
        generator = np.random.default_rng(0)
        return first(generator, n), second(generator, n)

    compare(recorder, "same_seed", same_seed, lambda: same_seed(n))
    compare(recorder, "two_draws", two_draws, lambda: two_draws(n))
    compare(recorder, "split", split, lambda: split(n), seeds=1)
    compare(recorder, "compiled", draw, inside_and_outside)
    compare(recorder, "compiled_seed", draw, seeded_twice)
    compare(recorder, "compiled_draws", draw, lambda: both_from(function, function))
    compare(recorder, "compiled_leaves", draw, lambda: both_from(function, draw))
    compare(recorder, "compiled_stream", draw, inside_and_outside)
    recorder.spec.observe_generator(recorder, uniforms, uniforms(), uniforms)
    generator = np.random.default_rng(0)
    function(generator, many)
    recorder.record("normals", draw, seconds=recorder.seconds(lambda: function(generator, many), 3))
