"""Computes from a finished result set what is gained by running a stack and its baseline close together in time.

It pairs every process of a stack with every process of the baseline on the same question, in the same block or another,
and sorts the pairs by the time between their starts. A change of the machine's pace increases the spread only of pairs
that are far apart. benchmarks/README.md shows the command.
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
from suite.sets.rows import Row, counting
from suite.verdicts.pairing import Timing, block_timings

BOUNDS = (20.0, 60.0, 180.0, 600.0, math.inf)  # seconds between two starts; each bin ends before its bound
Pair = tuple[float, float]  # seconds between the starts, and ln(t_baseline / t_stack) minus that stack's mean


def pairs_of(rows: Iterable[Row], baseline: str, clock: str = "synced") -> list[Pair]:
    """Returns all pairs of a baseline's process and another stack's process on the same question. Both must have a
    start time."""
    timings = {
        side: [timing for processes in blocks.values() for timing in processes if timing.started is not None]
        for side, blocks in block_timings(counting(rows), clock).items()
    }
    pairs: list[Pair] = []
    for (question, stack), processes in timings.items():
        controls = timings.get((question, baseline), [])
        if stack != baseline and processes and controls:
            logs = [
                (apart(process, control), math.log(control.seconds / process.seconds))
                for process in processes
                for control in controls
            ]
            mean = fmean(log for _, log in logs)
            pairs += [(gap, log - mean) for gap, log in logs]
    return pairs


def apart(process: Timing, control: Timing) -> float:
    """Returns the seconds between the starts of two processes, which must be known."""
    assert process.started is not None and control.started is not None
    return abs(process.started - control.started)


def spreads(pairs: Iterable[Pair]) -> dict[float, tuple[int, float]]:
    """Returns {upper bound: (number of pairs, standard deviation of their log ratios)} for each bin with pairs."""
    bins: dict[float, list[float]] = defaultdict(list)
    for gap, log in pairs:
        bins[next(bound for bound in BOUNDS if gap < bound)].append(log)
    return {bound: (len(logs), math.sqrt(fmean(log * log for log in logs))) for bound, logs in sorted(bins.items())}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("set", type=Path, help="a result set of several blocks")
    parser.add_argument("--baseline", help="the stack to compare with (default: the set's baseline)")
    options = parser.parse_args()
    loaded = results.load(options.set)
    bins = spreads(pairs_of(loaded.rows, options.baseline or loaded.baseline))
    if not bins:
        raise SystemExit(f"{options.set} has no pairs: it needs processes of the baseline and of another stack.")
    print("| starts apart | pairs | sd of the log ratio |\n| --- | ---: | ---: |")
    below = 0.0
    for bound, (count, spread) in bins.items():
        label = f"{below:g} to {bound:g} s" if bound < math.inf else f"over {below:g} s"
        print(f"| {label} | {count} | {spread:.3f} |")
        below = bound


if __name__ == "__main__":
    try:
        main()
    except UserError as error:
        raise SystemExit(str(error)) from None
