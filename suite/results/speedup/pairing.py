"""Pairs the processes of two stacks block by block, by nearness in time. docs/methodology.md has the formulas."""

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

Side = tuple[str, str]  # (comparison_id, stack): a stack on a question


@dataclass(frozen=True, slots=True)
class Timing:
    """One process: when it ran in its block, and its median in seconds. `started` is in seconds of the clock, if known;
    `disturbed` says that other programs used its cores until the end."""

    replicate: int
    order: float
    started: float | None
    seconds: float
    disturbed: bool = False


Timings = Mapping[int, Sequence[Timing]]  # {block: the stack's processes in it}
Logs = Mapping[int, float]  # {block: ln(t_baseline / t_stack)}


def block_timings(rows: Iterable[Row], clock: str) -> dict[Side, dict[int, list[Timing]]]:
    """Returns {(comparison_id, stack): {block: ok processes}}; a block has disturbed ones only if it has no others."""
    timings: dict[Side, dict[int, list[Timing]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        seconds = row.median(clock)
        if row["outcome"] == Outcome.OK and seconds is not None:
            started = row["started_at"].timestamp() if row["started_at"] else None
            timing = Timing(row["replicate"], row["order"], started, seconds, Flag.DISTURBED in row.flags)
            timings[row["comparison_id"], row.stack_name][row["block"]].append(timing)
    return {
        side: {
            block: [timing for timing in processes if not timing.disturbed] or processes
            for block, processes in blocks.items()
        }
        for side, blocks in timings.items()
    }


def log_ratios(stack: Timings, baseline: Timings) -> dict[int, float]:
    """Returns {block: ln(t_baseline / t_stack)} of each block in which both ran."""
    return {block: log_ratio(stack[block], baseline[block]) for block in sorted(stack.keys() & baseline.keys())}


def log_ratio(stack: Sequence[Timing], baseline: Sequence[Timing]) -> float:
    """Returns ln(t_baseline / t_stack) in one block, between the processes nearest to each other in time.

    A machine changes pace for seconds at a time. So each process of the side that ran less often is compared with the
    other side at the same moment: log time interpolated between the process before and the one after; before the first
    and after the last, with that one alone. Moments are `started_at`, or the order where any process lacks it.
    """
    dated = all(timing.started is not None for timing in (*stack, *baseline))
    fewer, more = (stack, baseline) if len(stack) <= len(baseline) else (baseline, stack)
    logs_at: dict[float, list[float]] = {}
    for timing in more:
        logs_at.setdefault(place_in_time(timing, dated), []).append(math.log(timing.seconds))
    times = sorted(logs_at)
    logs = [fmean(logs_at[time]) for time in times]
    gaps = [np.interp(place_in_time(timing, dated), times, logs) - math.log(timing.seconds) for timing in fewer]
    return float(fmean(gaps) if fewer is stack else -fmean(gaps))


def place_in_time(timing: Timing, dated: bool) -> float:
    """Returns when a process started, in seconds of the clock, or its order in the block if not `dated`."""
    return timing.started if dated and timing.started is not None else timing.order


def twin_log_ratios(stack: Timings) -> dict[int, float]:
    """Returns {block: ln(t of the first replicate / t of the others)} of each block in which the stack ran twice."""
    logs = {}
    for block, processes in sorted(stack.items()):
        first, *others = (math.log(timing.seconds) for timing in sorted(processes, key=lambda timing: timing.replicate))
        if others and min(timing.replicate for timing in processes) == 1:
            logs[block] = first - fmean(others)
    return logs


def all_seconds(timings: Timings) -> list[float]:
    """Returns the medians, in seconds, of all processes of a stack on a question."""
    return [timing.seconds for processes in timings.values() for timing in processes]


def best_mode(timings: Timings) -> dict[int, list[Timing]]:
    """Returns the processes of the fast mode: those within MODES_SPREAD of the median of all near to the fastest.

    The fastest is an extreme: counted from it, the slower processes of the same mode would be cut off.
    """
    medians = all_seconds(timings)
    middle = median(seconds for seconds in medians if seconds <= MODES_SPREAD * min(medians))
    limit = MODES_SPREAD * middle
    kept = {block: [timing for timing in processes if timing.seconds <= limit] for block, processes in timings.items()}
    return {block: processes for block, processes in kept.items() if processes}
