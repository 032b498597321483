"""Facts of processes: clocks, peaks, holders, endings, errors, sizes that fit."""

from __future__ import annotations

import json
import math
from collections import Counter, defaultdict
from dataclasses import dataclass
from statistics import fmean, median
from typing import Any

import numpy as np
from scipy import special

from tests.sentences.facts.reader import Cell, Truth
from tests.sentences.facts.rows import Line, gravest, grown, steady

UNTIMED = ("prime", "ir", "explain", "profile")


def early(truth: Truth) -> dict[tuple[str, str], float]:
    """Returns the share of a step that is left when its call returns: the median over processes."""
    found: dict[tuple[str, str], float] = {}
    for on, who, cell in counting(truth):
        pairs = [(steady(row, "dispatch"), steady(row)) for row in cell.used]
        shares = [max(0.0, 1 - median(called) / median(synced)) for called, synced in pairs if called]
        found |= {(on, who): median(shares)} if shares else {}
    return found


def counting(truth: Truth) -> list[tuple[str, str, Cell]]:
    return [(on, who, truth.cells[on][who]) for on in truth.cells for who in truth.counting(on)]


def copies(truth: Truth) -> dict[tuple[str, str], tuple[float, float]]:
    """Returns {case: (mean of fetch minus synced, lower end of its simultaneous interval)} of two processes or more."""
    gaps: dict[tuple[str, str], list[float]] = {}
    for on, who, cell in counting(truth):
        of = [median(steady(r, "fetch")) - median(steady(r)) for r in cell.used if steady(r, "fetch")]
        gaps |= {(on, who): of} if len(of) > 1 else {}
    found = {}
    for case, of in gaps.items():
        most = len(of) if truth.protocol.get("until") == "decided" else truth.protocol["blocks"]
        freedom = min(most, len(of)) - 1
        if freedom:
            half = (
                special.stdtrit(freedom, 1 - truth.pairs.doubt / len(gaps) / 2)
                * np.std(of, ddof=1)
                / math.sqrt(len(of))
            )
            found[case] = fmean(of), fmean(of) - float(half)
    return found


def peak(row: Line) -> float | None:
    """Returns a process's peak memory in bytes: its device's, or on a CPU its own without pages of files."""
    if row["target"] != "cpu":
        return None if row["device_peak_bytes"] is None else float(row["device_peak_bytes"])
    known = [each for part in ("build", "step") if (each := row[f"host_peak_{part}_bytes"]) is not None]
    if not known or row["host_file_bytes"] is None:
        return None
    sampled = row["cgroup_anonymous_bytes"] if row["relative_error"] is None else None
    return float(max(max(known) - row["host_file_bytes"], sampled or 0.0))


def peaks(truth: Truth) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = defaultdict(dict)
    for on, who, cell in counting(truth):
        known = [of for row in cell.used if (of := peak(row)) is not None]
        if known:
            found[on][who] = max(known)
    return found


def extreme(truth: Truth, way: Any) -> tuple[frozenset[str], int, int, float, float]:
    """Returns the stacks whose peak is the lowest (or highest) most often, how often, of how many, from, to."""
    first = {on: way(of, key=lambda who: of[who]) for on, of in peaks(truth).items()}
    times = Counter(first.values())
    most = frozenset(who for who in times if times[who] == max(times.values()))
    those = [peaks(truth)[on][who] for on, who in first.items() if who in most]
    return most, max(times.values()), len(first), min(those), max(those)


def in_ended(truth: Truth) -> tuple[float, float, str, str]:
    """Returns the most bytes that were in ended processes, of which peak, of which stack, on which question."""
    found = []
    for on, who, cell in counting(truth):
        split = []
        for row in cell.used:
            parts = [row[f"host_{part}_bytes"] for part in ("base", "peak_build", "peak_step", "file")]
            whole = peak(row)
            if whole is not None and None not in parts and row["target"] == "cpu":
                split.append((whole, max(0.0, whole - max(0.0, max(parts[:3]) - parts[3]))))
        if split and max(split)[1] > 0:
            found.append((max(split)[1], max(split)[0], who, on))
    return max(found, default=(0.0, 0.0, "", ""))


def held(truth: Truth) -> list[tuple[float, str, str, dict[str, float]]]:
    """Returns (bytes, stack, question, bytes by category) of what each explain process recorded, the most first."""
    names, found = truth.named("explain"), []
    for row in truth.rows:
        if row["purpose"] == "explain" and row["outcome"] == "ok":
            kinds = json.loads(row["holders"] or "{}").get("categories") or {}
            found.append((sum(kinds.values()), row["who"], names[row["asked"]], kinds))
    return sorted(found, key=lambda each: -each[0])


def endings(truth: Truth) -> dict[tuple[str, str, str], str]:
    """Returns how each case ended, apart from programs and profiles where there is anything else."""
    own = [row for row in truth.rows if row["purpose"] not in UNTIMED] or truth.rows
    alike: dict[tuple[str, str, str], list[Line]] = defaultdict(list)
    for row in own:
        alike[row["asked"], row["who"], row["purpose"]].append(row)
    return {case: gravest(rows) for case, rows in alike.items()}


def errors(truth: Truth) -> dict[tuple[str, str], tuple[str, float | None]]:
    """Returns {case: (outcome, its worst error)} of the timed cases; None for one that wasn't compared."""
    found = {}
    for on, cells in truth.cells.items():
        for who, cell in cells.items():
            known = [row["relative_error"] for row in cell.rows if row.get("relative_error") is not None]
            found[on, who] = cell.outcome, max(known, default=None)
    return found


@dataclass(frozen=True)
class Largest:
    """The largest size of a stack that fits (0: none), the smallest that ran out of memory, and the smallest above that
    ended otherwise, with its outcome."""

    low: int
    high: int | None
    stopped: tuple[int, str] | None

    @property
    def furthest(self) -> float:
        """The largest size that may fit."""
        return math.inf if self.high is None else self.high - 1

    @property
    def untried(self) -> bool:
        return self.high is None and not self.stopped


def largest(truth: Truth) -> dict[str, tuple[str, float | None, dict[str, Largest]]]:
    """Returns {question: (dim that varies, memory limit, {stack: its largest size})}. A search that a curve through the
    peaks ended isn't understood: no kept set has one."""
    found = {}
    for key, name in truth.searched.items():
        rows = [row for row in truth.rows if row["purpose"] == "memory" and grown(row) == key]
        dims = [json.loads(row["dims"]) for row in rows]
        (axis,) = (dim for dim in dims[0] if len({of[dim] for of in dims}) > 1)
        sizes: dict[str, dict[int, Line]] = defaultdict(dict)
        for of, row in zip(dims, rows, strict=True):
            sizes[row["who"]][of[axis]] = row
        found[name] = axis, rows[0]["limit_memory_bytes"], {who: largest_of(of) for who, of in sizes.items()}
    return found


def largest_of(sizes: dict[int, Line]) -> Largest:
    ends = {size: row["outcome"] for size, row in sizes.items()}
    low = max((size for size, end in ends.items() if end == "ok"), default=0)
    out = [size for size, end in ends.items() if end[:3] == "oom" and sizes[size]["provenance"] == "measured"]
    other = [(size, end) for size, end in ends.items() if size > low and end != "ok" and end[:3] != "oom"]
    return Largest(low, min(out, default=None), min(other, default=None))
