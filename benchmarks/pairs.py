"""Compares two ways to time the same thing by alternating pairs. Needs only the standard library.

A machine drifts by more than the differences that matter here. The two readings of a pair follow each other, so drift
hardly affects their ratio. Half of the pairs, drawn with a fixed seed, begin with theirs: so a steady drift cancels,
and no periodic disturbance coincides with the order.
"""

from __future__ import annotations

import argparse
import math
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import fmean, median, stdev
from typing import Any

# Student's t, two-sided 95 %, by degrees of freedom (pairs - 1). suite.stats computes it with scipy, which the
# frameworks' environments may lack.
T_95 = {9: 2.262, 11: 2.201, 14: 2.145, 19: 2.093, 29: 2.045, 39: 2.023}
PAIRS = tuple(freedom + 1 for freedom in T_95)


def product_options(text: str | None) -> argparse.Namespace:
    """Returns the options of a race on one matrix product. `text` is the program's description."""
    parser = argparse.ArgumentParser(description=text)
    parser.add_argument("--pairs", type=int, default=20, choices=PAIRS)
    parser.add_argument("--seconds", type=float, default=0.5, help="of samples on each side of a pair")
    parser.add_argument("--n", type=int, default=1024, help="side of the matrices")
    return parser.parse_args()


@dataclass(frozen=True, slots=True)
class MeanRatio:
    """The geometric mean of paired ratios, with its 95 % interval."""

    ratio: float
    low: float
    high: float
    pairs: int

    def __str__(self) -> str:
        half = 100 * (math.sqrt(self.high / self.low) - 1)
        interval = f"95 % interval [{self.low:.4f}, {self.high:.4f}], half-width {half:.1f} %"
        return f"{self.ratio:.4f}, {interval}, {self.pairs} pairs"


def alternate(ours: Callable[[], float], theirs: Callable[[], float], pairs: int) -> Iterator[tuple[float, float]]:
    """Yields (ours, theirs) of each pair, in seconds or any other unit; half of the pairs begin with theirs."""
    theirs_first = [bool(pair % 2) for pair in range(pairs)]
    random.Random(0).shuffle(theirs_first)
    for first in theirs_first:
        if first:
            b, a = theirs(), ours()
        else:
            a, b = ours(), theirs()
        yield a, b


def summarise(readings: list[tuple[float, float]]) -> MeanRatio:
    """Returns the ratio ours / theirs over all pairs. Raises KeyError for a number of pairs outside `PAIRS`."""
    logs = [math.log(ours / theirs) for ours, theirs in readings]
    mean, half = fmean(logs), T_95[len(logs) - 1] * stdev(logs) / math.sqrt(len(logs))
    return MeanRatio(math.exp(mean), math.exp(mean - half), math.exp(mean + half), len(logs))


def compare(ours: Callable[[], float], theirs: Callable[[], float], pairs: int) -> MeanRatio:
    """Takes the readings of all pairs, in seconds. Prints each pair with its ratio, then their mean ratio."""
    readings = []
    for number, (a, b) in enumerate(alternate(ours, theirs, pairs), 1):
        readings.append((a, b))
        print(f"pair {number:2}: ours {a * 1e3:9.4f} ms, theirs {b * 1e3:9.4f} ms, ratio {a / b:.4f}", flush=True)
    mean_ratio = summarise(readings)
    a, b = (median(side) for side in zip(*readings, strict=True))
    print(f"medians: ours {a * 1e3:.3f} ms, theirs {b * 1e3:.3f} ms")
    print(f"ours / theirs: {mean_ratio}")
    return mean_ratio


@contextmanager
def prepared(stack: str, workload: str, size: str, dims: dict[str, int], pass_: str, threads: int) -> Iterator[Any]:
    """Yields the adapter of one case, whose device is claimed, but which has built nothing yet. `dims` replace those of
    the size.

    It sets affinity and environment variables as a worker does, then imports NumPy and the framework. So nothing may
    have imported these before.
    """
    import os
    import tempfile

    from suite.stacks.threads import thread_environ

    cores = sorted(os.sched_getaffinity(0))[:threads]
    if len(cores) < threads:
        raise SystemExit(f"This comparison needs {threads} cores; this process may use {len(cores)}.")
    os.sched_setaffinity(0, cores)
    os.environ.update(thread_environ(threads))  # read when numpy is imported

    from benchmarks.cases import case_of
    from suite.stacks.catalog import adapter_class
    from suite.workloads import catalog

    case = case_of(stack, workload, pass_, size, dims, threads=threads)
    with tempfile.TemporaryDirectory(prefix="stack-wars-") as cache:
        chosen = adapter_class(stack)
        os.environ.update(chosen.environ(case, cache))
        adapter = chosen(case, catalog.find()[workload])
        adapter.device()
        yield adapter


def started(adapter: Any) -> Any:
    """Builds an adapter's step and places the canonical tensors. Returns the clock of that step."""
    from suite.worker.data import Data
    from suite.worker.timing.clock import Clock

    adapter.build()
    return Clock(adapter, *Data(adapter.case, adapter.workload, seed=0).place(adapter))


@contextmanager
def ready(stack: str, workload: str, dims: dict[str, int], pass_: str, threads: int) -> Iterator[tuple[Any, Any]]:
    """Yields (adapter, clock) of one case in this process, after its first two steps."""
    with prepared(stack, workload, "quick", dims, pass_, threads) as adapter:
        clock = started(adapter)
        clock.synced()
        clock.synced()
        yield adapter, clock


def median_of_clock(clock: Any, seconds: float) -> float:
    """Returns the median of synced samples, in seconds. It takes samples until their sum is `seconds`."""
    from statistics import median

    from suite.worker.timing.clock import NS, quiet_collector

    samples: list[float] = []
    with quiet_collector():
        while sum(samples) < seconds:
            samples.append(clock.synced()[1] * NS)
    return median(samples)
