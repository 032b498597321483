"""The section "Device or host": each stack's step by four clocks, the last of which ends in host memory."""

from __future__ import annotations

from dataclasses import dataclass

from suite import units
from suite.report.sections.labels import comparison_anchor
from suite.report.sections.section import Context, Section
from suite.report.sections.sentences import capital
from suite.report.sections.timed.units import Units, column_units
from suite.results.stack_figures import StackFigures
from suite.units import Unit, time_unit


@dataclass(frozen=True, slots=True)
class TransferRow:
    """One stack on one question, with the units of the question's tables."""

    comparison: str
    anchor: str
    figures: StackFigures
    units: Units


@dataclass(frozen=True, slots=True)
class TransfersSection(Section):
    """The stacks whose times count. All copies to host memory have one unit."""

    rows: tuple[TransferRow, ...]
    copy_unit: Unit

    name = "transfers"
    nav = "Device or host"
    terms = ("dispatch", "synced", "pipelined", "fetch")

    @classmethod
    def of(cls, context: Context) -> TransfersSection | None:
        """Returns the section; None without a timed process."""
        comparisons = context.analysis.comparisons
        rows = tuple(
            TransferRow(comparison.name, anchor, stack, column)
            for comparison in comparisons
            for anchor, column in ((comparison_anchor(comparison), column_units(comparison)),)
            for stack in comparison.stacks
            if stack.counts
        )
        return cls(rows, time_unit(row.figures.copy for row in rows)) if comparisons else None

    @property
    def answer(self) -> str:
        """Returns which stack's call leaves most of a step to compute when it returns, and the longest copy to host
        memory."""
        returning = [row for row in self.rows if row.figures.early]
        copies = [row for row in self.rows if row.figures.copy is not None]
        sentences = []
        if returning:
            early = max(returning, key=lambda row: row.figures.early or 0)
            share = f"{units.percent(early.figures.early)} of a step ({early.figures.stack} on {early.comparison})"
            sentences.append(f"up to {share} is still to compute when the call returns")
        if copies:
            longest = max(copies, key=lambda row: row.figures.copy or 0)
            copied = f"{self.copy_unit(longest.figures.copy)} ({longest.figures.stack} on {longest.comparison})"
            sentences.append(f"a copy of the result to host memory adds at most {copied}")
        return f"{capital('; '.join(sentences))}." if sentences else "No stack has times by other clocks than synced."
