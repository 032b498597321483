"""Races our synced clock against a hand-written `block_until_ready` loop, on one matrix product in one process.

Required: a ratio of medians within 2 % of 1. Runs in the environment `jax`; benchmarks/README.md shows the command.
"""

from __future__ import annotations

from statistics import median
from time import perf_counter
from typing import Any

from benchmarks.pairs import compare, median_of_clock, product_options, ready

THREADS = 2


def by_hand(jax: Any, f: Any, a: Any, b: Any, seconds: float) -> float:
    """Returns the median, in seconds, of the loop that JAX's documentation shows, repeated for `seconds`."""
    samples: list[float] = []
    while sum(samples) < seconds:
        start = perf_counter()
        jax.block_until_ready(f(a, b))
        samples.append(perf_counter() - start)
    return median(samples)


def main() -> None:
    options = product_options(__doc__)
    with ready("jax_jit", "gemm", {"n": options.n}, "forward", THREADS) as (adapter, clock):
        import jax

        f = jax.jit(lambda a, b: a @ b)
        a, b = clock.batch["a"], clock.state[0]["b"]
        jax.block_until_ready(f(a, b))  # compiled before the first pair
        print(f"jax {jax.__version__}, gemm n={options.n} forward, {adapter.device()}")
        compare(
            lambda: median_of_clock(clock, options.seconds),
            lambda: by_hand(jax, f, a, b, options.seconds),
            options.pairs,
        )


if __name__ == "__main__":
    main()
