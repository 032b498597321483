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
    spec, n, many = stack.workload.spec, stack.dims["n"], stack.dims["many"]
    function = stack.jit(draw, static=(1,))

    def compare(aspect, code, draws, **figures):
        seen = recorder.watch(draws)
        recorder.tell(aspect, code, seen, seconds=None, **figures, **spec.compared(*seen.value[:2]))

    def inside_and_outside():
        return draw(np.random.default_rng(0), n), function(np.random.default_rng(0), n)

    def seeded_twice():
        return function(np.random.default_rng(0), n), function(np.random.default_rng(0), n)

    def both_from(first, second):
        generator = np.random.default_rng(0)
        return first(generator, n), second(generator, n)

    compare("same_seed", same_seed, lambda: same_seed(n))
    compare("two_draws", two_draws, lambda: two_draws(n))
    compare("split", split, lambda: split(n), seeds=1)
    compare("compiled", draw, inside_and_outside)
    compare("compiled_seed", draw, seeded_twice)
    compare("compiled_draws", draw, lambda: both_from(function, function))
    compare("compiled_leaves", draw, lambda: both_from(function, draw))
    compare("compiled_stream", draw, inside_and_outside)
    numbers = uniforms()
    there, here = spec.elsewhere(__file__), spec.digest(numbers)
    recorder.tell("processes", uniforms, equal=float(there == here), difference=float(there != here))
    recorder.tell("digest", uniforms, words=" ".join(map(str, numbers[:3])), digest=here)
    generator = np.random.default_rng(0)
    function(generator, many)
    recorder.tell("normals", draw, seconds=recorder.seconds(lambda: function(generator, many), 3))


if __name__ == "__main__":
    from spec import digest

    print(digest(uniforms()))
