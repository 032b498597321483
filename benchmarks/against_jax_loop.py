"""Our synced clock against a `block_until_ready` loop as one writes it by hand, on one matrix product in one process.

Asked: the ratio of medians within 2 % of 1. Run in the jax environment, see benchmarks/README.md.
"""

from __future__ import annotations

import argparse
from statistics import median
from time import perf_counter
from typing import Any

from benchmarks.pairs import PAIRS, compare, median_of_clock, ready

THREADS = 2


def by_hand(jax: Any, f: Any, a: Any, b: Any, seconds: float) -> float:
    """The loop of JAX's own documentation, repeated."""
    samples: list[float] = []
    while sum(samples) < seconds:
        start = perf_counter()
        jax.block_until_ready(f(a, b))
        samples.append(perf_counter() - start)
    return median(samples)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=20, choices=PAIRS)
    parser.add_argument("--seconds", type=float, default=0.5, help="of samples on each side of a pair")
    parser.add_argument("--n", type=int, default=1024, help="side of the matrices")
    options = parser.parse_args()
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
