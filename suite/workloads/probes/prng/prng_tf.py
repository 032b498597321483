"""TensorFlow: a global seed, and generators whose state is a variable."""

import tensorflow as tf


def same_seed(n):
    tf.random.set_seed(0)
    first = tf.random.normal([n])
    tf.random.set_seed(0)
    return first, tf.random.normal([n])


def two_draws(n):
    tf.random.set_seed(0)
    return tf.random.normal([n]), tf.random.normal([n])


def split(n):
    first, second = tf.random.Generator.from_seed(0).split(2)
    return [stream.normal([n]) for stream in (first, second, first)]


def draw(n):
    return tf.random.normal([n])


def draw_from(generator, n):
    return generator.normal([n])


def uniforms():
    tf.random.set_seed(0)
    return tf.random.uniform([1000])


def run(stack, recorder):
    compare, n, many = recorder.spec.compare, stack.dims["n"], stack.dims["many"]
    function, streamed = stack.jit(draw, static=(0,)), stack.jit(draw_from, static=(1,))

    def both(first, second, seeds):
        tf.random.set_seed(0)
        numbers = first(n)
        if seeds > 1:
            tf.random.set_seed(0)
        return numbers, second(n)

    generators = [tf.random.Generator.from_seed(0) for _ in range(2)]  # a function that uses a generator needs it alive
    compare(recorder, "same_seed", same_seed, lambda: same_seed(n))
    compare(recorder, "two_draws", two_draws, lambda: two_draws(n))
    compare(recorder, "split", split, lambda: split(n), seeds=1)
    compare(recorder, "compiled", draw, lambda: both(draw, function, seeds=2))
    compare(recorder, "compiled_seed", draw, lambda: both(function, function, seeds=2))
    compare(recorder, "compiled_draws", draw, lambda: both(function, function, seeds=1))
    compare(recorder, "compiled_leaves", draw, lambda: both(function, draw, seeds=1))
    compare(recorder, "compiled_stream", draw_from, lambda: (draw_from(generators[0], n), streamed(generators[1], n)))
    recorder.spec.observe_generator(recorder, uniforms, stack.fetch(uniforms()), uniforms)
    stack.wait(None, function(many))
    recorder.record("normals", draw, seconds=recorder.seconds(lambda: function(many), 3))
