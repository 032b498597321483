"""The section "Latency": first, second and average steady call, a small table for each question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from suite import units
from suite.report.sections.labels import comparison_anchor, outcome_text
from suite.report.sections.section import Context, Section
from suite.report.sections.sentences import counted
from suite.report.sections.timed.units import Units, column_units
from suite.report.tables import Table
from suite.results.analysis import Comparison
from suite.results.cases.latency import CALLS, Latency, latencies
from suite.results.outcomes import Cell


@dataclass(frozen=True, slots=True)
class LatencyRow:
    """One stack: its first, second and average steady call as text. `texts` are for a table whose heads name the units,
    `sentences` name their units themselves. `ended` is the index of the call whose text has the stack's outcome; None
    if all of its processes ended ok."""

    cell: Cell
    texts: tuple[str, ...]
    sentences: tuple[str, ...]
    ended: int | None


@dataclass(frozen=True, slots=True)
class LatencyView:
    """One question, with the unit of each call."""

    name: str
    anchor: str
    units: tuple[str, ...]
    rows: tuple[LatencyRow, ...]
    latencies: tuple[Latency, ...]


@dataclass(frozen=True, slots=True)
class LatencySection(Section):
    """All questions by name. `slowest` names the stack and question with the longest first call, `longest` its time."""

    views: tuple[LatencyView, ...]
    slowest: str
    longest: str

    name = "latency"
    nav = "Latency"
    key = "latency"
    terms = ("first run", "second run", "average", "steady state")

    @classmethod
    def of(cls, context: Context) -> LatencySection | None:
        """Returns the section; None without a timed process."""
        analysis = context.analysis
        if not analysis.comparisons:
            return None
        of_question = latencies(analysis)
        views = tuple(latency_view(comparison, of_question[comparison.id]) for comparison in analysis.comparisons)
        first = [
            (line.first, f"{line.cell.stack} on {comparison.name}", unit)
            for comparison in analysis.comparisons
            for unit in (column_units(comparison).first,)
            for line in of_question[comparison.id]
            if line.first is not None
        ]
        seconds, stack, unit = max(first, key=lambda known: known[0], default=(None, "", units.Unit("s", 1.0)))
        return cls(views, stack, unit(seconds))

    @property
    def answer(self) -> str:
        """Returns the longest first call, and how many stacks have no steady time."""
        without = sum(line.average is None for view in self.views for line in view.latencies)
        rest = f"; {counted(without, 'case')} without a steady time" if without else ""
        if not self.slowest:
            return "No case has a time."
        return f"The longest first call took {self.longest} ({self.slowest}){rest}."

    def data(self) -> list[Any]:
        """Returns each question with its stacks' first, second and average steady call, in seconds."""
        return [
            {
                "name": view.name,
                "stacks": [
                    {
                        "stack": line.cell.stack,
                        "outcome": line.cell.outcome,
                        "ended_in": line.ended or None,
                        **{f"{call}_seconds": line.seconds(call) for call in CALLS},
                    }
                    for line in view.latencies
                ],
            }
            for view in self.views
        ]

    def tables(self) -> Sequence[Table]:
        """Returns one table: a line for each stack of each question."""
        heads = ["question", "stack", *(f"{call} call" for call in ("first", "second")), "average steady call"]
        lines = [[view.name, row.cell.stack, *row.sentences] for view in self.views for row in view.rows]
        return [Table("Latency", heads, lines, numbers=heads[2:])]

    def console(self) -> Sequence[Table]:
        """Returns nothing: the table of each comparison has these calls."""
        return []


def latency_view(comparison: Comparison, lines: Sequence[Latency]) -> LatencyView:
    """Returns the view of one question."""
    column = column_units(comparison)
    return LatencyView(
        name=comparison.name,
        anchor=comparison_anchor(comparison),
        units=(column.first.name, column.second.name, column.steady.name),
        rows=tuple(latency_row(line, column) for line in lines),
        latencies=tuple(lines),
    )


def latency_row(line: Latency, column: Units) -> LatencyRow:
    """Returns one stack's line. If not all of its processes ended ok, the outcome is shown at the call in which the
    case ended: in place of a time, or behind the time that other processes took."""
    of_call = (column.first, column.second, column.steady)
    seconds = [(unit, line.seconds(call)) for call, unit in zip(CALLS, of_call, strict=True)]
    forms = [[unit.show(value) for unit, value in seconds], [unit(value) for unit, value in seconds]]
    at = CALLS.index(line.ended) if line.ended else None
    if at is not None:
        words = outcome_text(line.cell)
        for texts in forms:
            texts[at] = words if texts[at] == units.UNKNOWN else f"{texts[at]}, {words}"
    shown, sentences = map(tuple, forms)
    return LatencyRow(line.cell, shown, sentences, at)
