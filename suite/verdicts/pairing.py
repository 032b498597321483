"""Pairs the processes of two stacks block by block: by rounds if they took turns, else by nearness in time.
docs/why/statistics.md has the formulas."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from statistics import fmean, median

import numpy as np

from suite.case import Flag, Outcome
from suite.protocol import SAMPLINGS, Protocol
from suite.sets.rows import Row
from suite.stats import MODES_SPREAD

Turn = tuple[int, int]  # (retry, round): processes that share one were sampled within seconds of each other
Side = tuple[str, str]  # (comparison_id, stack): a stack on a question


@dataclass(frozen=True, slots=True)
class Timing:
    """One process: when it ran in its block, and its median in seconds. `started` is the time of day in seconds since
    1970, if known. `disturbed` says that other programs used the process's cores until its end. `sampling` is `alone`
    or `rounds`; `turns` has the median of each turn, in seconds."""

    replicate: int
    order: float
    started: float | None
    seconds: float
    disturbed: bool = False
    sampling: str = SAMPLINGS[0]
    turns: Mapping[Turn, float] = field(default_factory=dict)


Timings = Mapping[int, Sequence[Timing]]  # {block: the stack's processes in it}
Logs = Mapping[int, float]  # {block: ln(t_baseline / t_stack)}


def block_timings(rows: Iterable[Row], clock: str) -> dict[Side, dict[int, list[Timing]]]:
    """Returns {(comparison_id, stack): {block: ok processes}}; disturbed processes only if a block has no others."""
    timings: dict[Side, dict[int, list[Timing]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        seconds = row.median(clock)
        if row["outcome"] == Outcome.OK and seconds is not None:
            started = row["started_at"].timestamp() if row["started_at"] else None
            turns = {(row["retry"], round_): median for round_, median in row.round_medians(clock).items()}
            timing = Timing(
                row["replicate"],
                row["position"],
                started,
                seconds,
                Flag.DISTURBED in row.flags,
                row["sampling"] or SAMPLINGS[0],
                turns,
            )
            timings[row["comparison_id"], row.stack_name][row["block"]].append(timing)
    return {
        side: {
            block: [timing for timing in processes if not timing.disturbed] or processes
            for block, processes in blocks.items()
        }
        for side, blocks in timings.items()
    }


def log_ratios(stack: Timings, baseline: Timings) -> dict[int, float]:
    """Returns {block: ln(t_baseline / t_stack)} of each block in which both ran, and were sampled the same way."""
    ours, theirs = same_way(stack, baseline)
    logs = {block: log_ratio(ours[block], theirs[block]) for block in sorted(ours.keys() & theirs.keys())}
    return {block: log for block, log in logs.items() if log is not None}


def counting(stack: Timings, baseline: Timings, protocol: Protocol) -> tuple[Timings, Timings]:
    """Returns the processes of two stacks that count towards their ratio. A run until decided replaces a block in which
    other programs disturbed either stack to the end by a further block: once as many blocks as its first look takes are
    undisturbed, the others don't count."""
    if not protocol.until_decided:
        return stack, baseline
    shared = stack.keys() & baseline.keys()
    clean = [b for b in sorted(shared) if not any(timing.disturbed for timing in (*stack[b], *baseline[b]))]
    if len(clean) in range(protocol.first_look, len(shared)):
        return {b: stack[b] for b in clean}, {b: baseline[b] for b in clean}
    return stack, baseline


def same_way(stack: Timings, baseline: Timings) -> tuple[Timings, Timings]:
    """Returns the processes of two stacks that were sampled the same way: the way that both have in more blocks."""
    ways = [(sampled(stack, way), sampled(baseline, way)) for way in reversed(SAMPLINGS)]
    return max(ways, key=lambda sides: len(sides[0].keys() & sides[1].keys()))


def sampled(timings: Timings, sampling: str) -> dict[int, list[Timing]]:
    """Returns the processes that were sampled in one way, of the blocks that have any."""
    chosen = {
        block: [timing for timing in processes if timing.sampling == sampling] for block, processes in timings.items()
    }
    return {block: processes for block, processes in chosen.items() if processes}


def log_ratio(stack: Sequence[Timing], baseline: Sequence[Timing]) -> float | None:
    """Returns ln(t_baseline / t_stack) in one block: by rounds where the processes took turns, else between those
    nearest to each other in time. None for processes that took turns, but not with each other."""
    if any(timing.turns for timing in (*stack, *baseline)):
        return log_ratio_in_rounds(stack, baseline)
    return log_ratio_by_time(stack, baseline)


def log_ratio_in_rounds(stack: Sequence[Timing], baseline: Sequence[Timing]) -> float | None:
    """Returns the median of ln(t_baseline / t_stack) inside a round, by the medians of their turns; None without a
    round that both have. If a stack has several processes in a round, each is paired by itself.

    A median, because the times beside the ratio are medians: a mean over rounds let 5 slow turns of 24 say that the
    stack with the lower median is slower. The mean of two processes in a round would be slow if either is.
    """
    gaps = [
        math.log(theirs.turns[turn] / ours.turns[turn])
        for ours, theirs in product(stack, baseline)
        for turn in ours.turns.keys() & theirs.turns.keys()
    ]
    return median(gaps) if gaps else None


def log_ratio_by_time(stack: Sequence[Timing], baseline: Sequence[Timing]) -> float:
    """Returns ln(t_baseline / t_stack) in one block, between the processes nearest to each other in time.

    A machine changes pace for seconds at a time. So each process of the side that ran less often is compared with the
    other side at the same moment: with the log time interpolated between the process before and the process after. A
    process before the first, or after the last, is compared with that process alone. A moment is `started_at`, or the
    order in the block if any process lacks it.
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
    """Returns when a process started, in seconds since 1970, or its order in the block if not `dated`."""
    return timing.started if dated and timing.started is not None else timing.order


def twin_log_ratios(stack: Timings) -> dict[int, float]:
    """Returns {block: ln(t of the first replicate / t of the others)} of each block in which the stack ran twice, and
    both were sampled the same way; by rounds where they took turns."""
    logs = {}
    for block, processes in sorted(stack.items()):
        first, *rest = sorted(processes, key=lambda timing: timing.replicate)
        others = [timing for timing in rest if timing.sampling == first.sampling]
        if not others or first.replicate != 1:
            continue
        if first.turns:
            log = log_ratio_in_rounds(others, [first])
        else:
            log = math.log(first.seconds) - fmean(math.log(timing.seconds) for timing in others)
        if log is not None:
            logs[block] = log
    return logs


def all_seconds(timings: Timings) -> list[float]:
    """Returns the medians, in seconds, of all processes of a stack on a question."""
    return [timing.seconds for processes in timings.values() for timing in processes]


def all_apart(one: Timings, other: Timings) -> bool:
    """Returns whether all processes of one of two stacks take more than MODES_SPREAD times as long as all of the
    other."""
    ones, others = all_seconds(one), all_seconds(other)
    return min(ones) > MODES_SPREAD * max(others) or min(others) > MODES_SPREAD * max(ones)


def best_mode(timings: Timings) -> dict[int, list[Timing]]:
    """Returns the processes of the fast mode: those up to MODES_SPREAD times the median of the processes near the
    fastest.

    The fastest process is an extreme: a limit counted from it would cut off slower processes of the same mode.
    """
    medians = all_seconds(timings)
    middle = median(seconds for seconds in medians if seconds <= MODES_SPREAD * min(medians))
    limit = MODES_SPREAD * middle
    fast = {block: [timing for timing in processes if timing.seconds <= limit] for block, processes in timings.items()}
    return {block: processes for block, processes in fast.items() if processes}
