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
    spec, n, many = stack.workload.spec, stack.dims["n"], stack.dims["many"]
    function, streamed = stack.jit(draw, static=(0,)), stack.jit(draw_from, static=(1,))

    def compare(aspect, code, draws, **figures):
        seen = recorder.watch(draws)
        numbers = spec.compared(*map(stack.fetch, seen.value[:2])) if seen.value else {}
        recorder.tell(aspect, code, seen, seconds=None, **figures, **numbers)

    def both(first, second, seeds):
        tf.random.set_seed(0)
        one = first(n)
        if seeds > 1:
            tf.random.set_seed(0)
        return one, second(n)

    generators = [tf.random.Generator.from_seed(0) for _ in range(2)]  # alive as long as the function that has it
    compare("same_seed", same_seed, lambda: same_seed(n))
    compare("two_draws", two_draws, lambda: two_draws(n))
    compare("split", split, lambda: split(n), seeds=1)
    compare("compiled", draw, lambda: both(draw, function, seeds=2))
    compare("compiled_seed", draw, lambda: both(function, function, seeds=2))
    compare("compiled_draws", draw, lambda: both(function, function, seeds=1))
    compare("compiled_leaves", draw, lambda: both(function, draw, seeds=1))
    compare("compiled_stream", draw_from, lambda: (draw_from(generators[0], n), streamed(generators[1], n)))
    numbers = stack.fetch(uniforms())
    here = spec.digest(numbers)
    if stack.case.target == "tpu":
        recorder.lacks("processes", "one process at a time holds a TPU, and this one does")
    else:
        there = spec.elsewhere(__file__)
        recorder.tell("processes", uniforms, equal=float(there == here), difference=float(there != here))
    recorder.tell("digest", uniforms, words=" ".join(map(str, numbers[:3])), digest=here)
    stack.wait(None, function(many))
    recorder.tell("normals", draw, seconds=recorder.seconds(lambda: function(many), 3))


if __name__ == "__main__":
    from spec import digest

    print(digest(uniforms().numpy()))
