"""Processes of two stacks, paired block by block: inside rounds, or by nearness in time."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from statistics import fmean, median

import numpy as np

from tests.sentences.facts.rows import Line, steady, turns

MODES = 1.3  # equal processes whose slowest takes over this times the fastest run in two modes
Side = tuple[str, str]  # question, stack


@dataclass(frozen=True)
class Process:
    row: Line
    seconds: float
    turns: dict[tuple[int, int], float]

    @classmethod
    def of(cls, row: Line, clock: str) -> Process | None:
        samples = steady(row, clock)
        return cls(row, median(samples), turns(row) if clock == "synced" else {}) if samples else None

    @property
    def disturbed(self) -> bool:
        return "disturbed" in self.row["flags"]

    def in_rounds(self) -> bool:
        return bool(self.row["sampling"] == "rounds")

    def by_itself(self) -> bool:
        return not self.in_rounds()


Blocks = dict[int, list[Process]]


def seconds(blocks: Blocks) -> list[float]:
    return [process.seconds for of in blocks.values() for process in of]


def has_modes(blocks: Blocks) -> bool:
    return max(seconds(blocks)) > MODES * min(seconds(blocks))


def apart(one: Blocks, other: Blocks) -> bool:
    ours, theirs = seconds(one), seconds(other)
    return min(ours) > MODES * max(theirs) or min(theirs) > MODES * max(ours)


def best_mode(blocks: Blocks) -> Blocks:
    times = seconds(blocks)
    limit = MODES * median(t for t in times if t <= MODES * min(times))
    return kept(blocks, lambda process: process.seconds <= limit)


def same_way(one: Blocks, other: Blocks) -> tuple[Blocks, Blocks]:
    """Returns the processes sampled in rounds, or those sampled alone: whichever share more blocks."""
    rounds = kept(one, Process.in_rounds), kept(other, Process.in_rounds)
    alone = kept(one, Process.by_itself), kept(other, Process.by_itself)
    return max(rounds, alone, key=lambda both: len(both[0].keys() & both[1].keys()))


def kept(blocks: Blocks, keeps: Callable[[Process], bool]) -> Blocks:
    found = {block: [*filter(keeps, of)] for block, of in blocks.items()}
    return {block: of for block, of in found.items() if of}


def paired(stack: Blocks, baseline: Blocks) -> dict[int, float]:
    """Returns {block: ln(t_baseline / t_stack)}."""
    ours, theirs = same_way(stack, baseline)
    logs = {block: log_ratio(ours[block], theirs[block]) for block in sorted(ours.keys() & theirs.keys())}
    return {block: log for block, log in logs.items() if log is not None}


def log_ratio(stack: list[Process], baseline: list[Process]) -> float | None:
    if any(process.turns for process in [*stack, *baseline]):
        both = [(ours.turns, theirs.turns) for ours in stack for theirs in baseline]
        gaps = [math.log(theirs[turn] / ours[turn]) for ours, theirs in both for turn in ours.keys() & theirs.keys()]
        return median(gaps) if gaps else None
    dated = all(process.row["started_at"] for process in [*stack, *baseline])

    def when(process: Process) -> float:
        return float(process.row["started_at"].timestamp() if dated else process.row["position"])

    fewer, more = (stack, baseline) if len(stack) <= len(baseline) else (baseline, stack)
    at: dict[float, list[float]] = defaultdict(list)
    for process in more:
        at[when(process)].append(math.log(process.seconds))
    times = sorted(at)
    beside = [np.interp(when(process), times, [fmean(at[time]) for time in times]) for process in fewer]
    gap = fmean(float(b) - math.log(p.seconds) for b, p in zip(beside, fewer, strict=True))
    return gap if fewer is stack else -gap


def twin(processes: list[Process]) -> float | None:
    """Returns ln(t of replicate 1 / t of the others) in one block."""
    first, *rest = sorted(processes, key=lambda process: process.row["replicate"])
    others = [process for process in rest if process.in_rounds() == first.in_rounds()]
    if not others or first.row["replicate"] != 1:
        return None
    if first.turns:
        return log_ratio(others, [first])
    return math.log(first.seconds) - fmean(math.log(process.seconds) for process in others)
