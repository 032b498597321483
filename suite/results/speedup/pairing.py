"""Which processes are held against which: block by block, by nearness in time. docs/methodology.md has the formulas."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median

import numpy as np

from suite.case import Flag, Outcome
from suite.results.store.rows import Row
from suite.stats import MODES_SPREAD

Side = tuple[str, str]  # comparison_id and stack


@dataclass(frozen=True, slots=True)
class Timing:
    """One process: when it ran in its block, and its median in seconds. `started`: seconds of the clock, if known.
    `disturbed`: others had its cores to the end."""

    replicate: int
    order: float
    started: float | None
    seconds: float
    disturbed: bool = False


Timings = Mapping[int, Sequence[Timing]]  # by block, the processes that a stack has there
Logs = Mapping[int, float]  # by block, ln(t_baseline / t_stack)


def block_timings(rows: Iterable[Row], clock: str) -> dict[Side, dict[int, list[Timing]]]:
    """{(comparison_id, stack): {block: its processes}} of the ok rows; disturbed ones only where it has no others."""
    timings: dict[Side, dict[int, list[Timing]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        seconds = row.median(clock)
        if row["outcome"] == Outcome.OK and seconds is not None:
            started = row["started_at"].timestamp() if row["started_at"] else None
            timing = Timing(row["replicate"], row["order"], started, seconds, Flag.DISTURBED in row.flags)
            timings[row["comparison_id"], row.stack_name][row["block"]].append(timing)
    return {
        side: {
            block: [each for each in processes if not each.disturbed] or processes
            for block, processes in blocks.items()
        }
        for side, blocks in timings.items()
    }


def log_ratios(stack: Timings, baseline: Timings) -> dict[int, float]:
    """{block: ln(t_baseline / t_stack)} of each block that has both."""
    return {block: log_ratio(stack[block], baseline[block]) for block in sorted(stack.keys() & baseline.keys())}


def log_ratio(stack: Sequence[Timing], baseline: Sequence[Timing]) -> float:
    """ln(t_baseline / t_stack) in one block, between what stood nearest to each other in time.

    A machine changes pace for seconds at a time. So each process of the side that ran less often is held against the
    other side at its own time: interpolated between the process before and the one after it, in log time; beyond the
    first and the last against these alone. Times are `started_at`, or the order where one of them lacks it.
    """
    dated = all(timing.started is not None for timing in (*stack, *baseline))
    fewer, more = (stack, baseline) if len(stack) <= len(baseline) else (baseline, stack)
    found: dict[float, list[float]] = {}
    for timing in more:
        found.setdefault(place_in_time(timing, dated), []).append(math.log(timing.seconds))
    times = sorted(found)
    logs = [fmean(found[time]) for time in times]
    gaps = [np.interp(place_in_time(timing, dated), times, logs) - math.log(timing.seconds) for timing in fewer]
    return float(fmean(gaps) if fewer is stack else -fmean(gaps))


def place_in_time(timing: Timing, dated: bool) -> float:
    """Seconds of the clock, or the order in the block."""
    return timing.started if dated and timing.started is not None else timing.order


def twin_log_ratios(stack: Timings) -> dict[int, float]:
    """{block: ln of the first replicate's time over that of the others} of each block in which it ran twice."""
    logs = {}
    for block, processes in sorted(stack.items()):
        first, *others = (math.log(each.seconds) for each in sorted(processes, key=lambda each: each.replicate))
        if others and min(each.replicate for each in processes) == 1:
            logs[block] = first - fmean(others)
    return logs


def all_seconds(timings: Timings) -> list[float]:
    """The medians of all processes of a stack on a question."""
    return [each.seconds for processes in timings.values() for each in processes]


def best_mode(timings: Timings) -> dict[int, list[Timing]]:
    """The processes of the fast mode: nearer than two modes are to the middle of those that are near to the fastest.

    To the middle, because the fastest of many is an extreme: counted from it, the noise of one mode would be cut.
    """
    seconds = all_seconds(timings)
    middle = median(each for each in seconds if each <= MODES_SPREAD * min(seconds))
    limit = MODES_SPREAD * middle
    kept = {block: [each for each in processes if each.seconds <= limit] for block, processes in timings.items()}
    return {block: processes for block, processes in kept.items() if processes}
