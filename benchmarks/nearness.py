"""Reads from a finished result set what it gains that a stack and its baseline run close together in time.

Pairs every process of a stack with every process of the baseline on its question, in the same block or another, and
sorts the pairs by the time between their starts. A change of the machine's pace widens only the spread of far pairs.
See benchmarks/README.md.
"""

from __future__ import annotations

import argparse
import math
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from statistics import fmean

from suite import results
from suite.errors import UserError
from suite.results.speedup.pairing import Timing, block_timings
from suite.results.store.rows import Row, counting

BOUNDS = (20.0, 60.0, 180.0, 600.0, math.inf)  # seconds between two starts; each bin ends before its bound
Pair = tuple[float, float]  # seconds between the starts, and ln(t_baseline / t_stack) less that stack's mean


def pairs_of(rows: Iterable[Row], baseline: str, clock: str = "synced") -> list[Pair]:
    """Returns all pairs of a baseline's and another stack's process on one question, if both rows have a start time."""
    timings = {
        side: [each for processes in blocks.values() for each in processes if each.started is not None]
        for side, blocks in block_timings(counting(rows), clock).items()
    }
    found: list[Pair] = []
    for (question, stack), processes in timings.items():
        controls = timings.get((question, baseline), [])
        if stack != baseline and processes and controls:
            logs = [
                (apart(one, other), math.log(other.seconds / one.seconds)) for one in processes for other in controls
            ]
            mean = fmean(log for _, log in logs)
            found += [(gap, log - mean) for gap, log in logs]
    return found


def apart(one: Timing, other: Timing) -> float:
    """Returns the seconds between the starts of two processes, which must be known."""
    assert one.started is not None and other.started is not None
    return abs(one.started - other.started)


def spreads(pairs: Iterable[Pair]) -> dict[float, tuple[int, float]]:
    """Returns {bound: (number of pairs, standard deviation of their log ratio)} for each bin with pairs."""
    bins: dict[float, list[float]] = defaultdict(list)
    for gap, log in pairs:
        bins[next(bound for bound in BOUNDS if gap < bound)].append(log)
    return {bound: (len(logs), math.sqrt(fmean(log * log for log in logs))) for bound, logs in sorted(bins.items())}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("set", type=Path, help="a result set of several blocks")
    parser.add_argument("--baseline", help="default: the run's own")
    options = parser.parse_args()
    loaded = results.load(options.set)
    found = spreads(pairs_of(loaded.rows, options.baseline or loaded.baseline))
    if not found:
        raise SystemExit(f"{options.set} has no stack beside a baseline.")
    print("| starts apart | pairs | sd of the log ratio |\n| --- | ---: | ---: |")
    below = 0.0
    for bound, (count, spread) in found.items():
        label = f"{below:g} to {bound:g} s" if bound < math.inf else f"over {below:g} s"
        print(f"| {label} | {count} | {spread:.3f} |")
        below = bound


if __name__ == "__main__":
    try:
        main()
    except UserError as error:
        raise SystemExit(str(error)) from None
