"""Computes the three figures of the study from which this suite grew: the first call, the second call, and the average
steady call. If a process didn't get that far, says how it ended."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from suite.case import Outcome, Purpose
from suite.results.analysis import Analysis, Comparison
from suite.results.outcomes import Cell
from suite.results.questions.grouping import grouped
from suite.results.stack_figures import middle
from suite.results.store.rows import Row

CALLS = ("first", "second", "average")
# A process that ended in one of these phases hasn't finished its first call.
BEFORE_FIRST = ("start", "import", "device", "build", "place", "first", "")


@dataclass(frozen=True, slots=True)
class Latency:
    """One stack on one question: seconds of the first call, the second, and the average steady one; None if unknown.

    `ended` is the call of `CALLS` that a process didn't finish because it ended other than `ok`; empty if all processes
    are `ok`. Calls before it may have a time.
    """

    cell: Cell
    first: float | None
    second: float | None
    average: float | None
    ended: str

    def seconds(self, call: str) -> float | None:
        """Returns the seconds of one of `CALLS`; None where unknown."""
        return {"first": self.first, "second": self.second, "average": self.average}[call]


def latencies(analysis: Analysis) -> dict[str, tuple[Latency, ...]]:
    """Returns {comparison_id: the latency of each planned stack}: the fastest first, then those without steady time."""
    timed = [row for row in analysis.counted if row["purpose"] == Purpose.TIMED and row["replicate"] == 1]
    rows = grouped(timed, lambda row: (row.text("comparison_id"), row.stack_name))
    return {
        comparison.id: tuple(
            latency(cell, comparison, rows.get((comparison.id, cell.stack), []))
            for cell in [*(stack.cell for stack in comparison.stacks), *comparison.untimed]
        )
        for comparison in analysis.comparisons
    }


def latency(cell: Cell, comparison: Comparison, rows: Iterable[Row]) -> Latency:
    """Returns the latency of one stack; `rows` are those of its processes. If it has no steady time, its first and
    second call are medians over the processes that finished them."""
    figures = comparison.of(cell.stack)
    ended = "" if cell.outcome == Outcome.OK else ended_in(cell.phase)
    if figures is not None:
        return Latency(cell, figures.first, figures.second, figures.average, ended)
    listed = list(rows)
    first, second = (middle(row.number(f"{call}_seconds") for row in listed) for call in ("first", "second"))
    return Latency(cell, first, second, None, ended)


def ended_in(phase: str) -> str:
    """Returns the call of `CALLS` that a process was making, or would have made next, when it ended in this phase."""
    if phase in BEFORE_FIRST:
        return "first"
    return "second" if phase == "second" else "average"
