"""Computes where each case lies under the machine's roofline: its operations per byte, its operations per second, and
what limits it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from suite.case import Purpose
from suite.machine.roofline import Roofline
from suite.results.analysis import Analysis, Comparison
from suite.results.questions.grouping import by_comparison, grouped
from suite.results.store.rows import Row

ARITHMETIC, MEMORY = "arithmetic", "memory"


@dataclass(frozen=True, slots=True)
class RooflinePoint:
    """One case: FLOP for each byte that a step must move, the FLOP/s that it reached, `efficiency` as a share of the
    machine's limit, and what sets this limit (`ARITHMETIC` or `MEMORY`)."""

    question: str
    stack: str
    flops_per_byte: float
    flops_per_second: float
    efficiency: float
    bound: str


def points(analysis: Analysis, roofline: Roofline) -> tuple[RooflinePoint, ...]:
    """Returns a point for each case whose times count, whose work is known and whose precision has a roof: by question,
    the fastest first. `roofline` is the one that the analysis was made with."""
    timed = [row for row in analysis.counted if row["purpose"] == Purpose.TIMED]
    rows = grouped(timed, by_comparison)
    return tuple(
        point
        for comparison in analysis.comparisons
        for point in points_of(comparison, rows.get(comparison.id, []), roofline)
    )


def points_of(comparison: Comparison, rows: Iterable[Row], roofline: Roofline) -> Iterable[RooflinePoint]:
    """Yields the points of one question; the first of `rows` with FLOPs and bytes gives its work."""
    work = next((row for row in rows if row.number("flops") and row.number("bytes_floor")), None)
    if work is None:
        return
    flops, moved = work.number("flops") or 0.0, work.number("bytes_floor") or 0.0
    roof = roofline.flops_per_second.get(work.text("precision"))
    if roof is None or not roofline.levels:
        return
    bound = MEMORY if roofline.moving_seconds(moved) > flops / roof else ARITHMETIC
    for stack in comparison.stacks:
        if stack.counts and stack.efficiency is not None:
            rate = flops / stack.median.value
            yield RooflinePoint(comparison.name, stack.stack, flops / moved, rate, stack.efficiency, bound)
