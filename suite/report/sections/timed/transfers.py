"""The section "Device or host": each stack's step by four clocks, the last of which ends in host memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from suite import units
from suite.report.sections.labels import comparison_anchor, left_out
from suite.report.sections.section import Context, Section
from suite.report.sections.sentences import capital, counted
from suite.report.sections.timed.units import Units, column_units
from suite.results.stack_figures import StackFigures
from suite.stats import Estimate, mean_of
from suite.units import Unit, time_unit


@dataclass(frozen=True, slots=True)
class TransferRow:
    """One stack on one question, with the units of the question's tables. `copy` is what the copy to host memory adds
    to a step in seconds: the mean over processes of fetch minus synced. None where no process has both clocks."""

    comparison: str
    anchor: str
    figures: StackFigures
    units: Units
    copy: Estimate | None

    @property
    def is_shown(self) -> bool:
        """Whether the copy is shown to take time: its interval lies above zero."""
        return self.copy is not None and self.copy.low is not None and self.copy.low > 0


@dataclass(frozen=True, slots=True)
class TransfersSection(Section):
    """The stacks whose times count; `left_out` names the others, each with its outcome. All copies to host memory have
    one unit, and their intervals hold together with the probability `confidence`."""

    rows: tuple[TransferRow, ...]
    left_out: tuple[str, ...]
    copy_unit: Unit
    confidence: str

    name = "transfers"
    nav = "Device or host"
    terms = ("dispatch", "synced", "pipelined", "fetch")

    @classmethod
    def of(cls, context: Context) -> TransfersSection | None:
        """Returns the section; None without a timed process."""
        comparisons, protocol = context.analysis.comparisons, context.protocol
        if not comparisons:
            return None
        timed = [(comparison, stack) for comparison in comparisons for stack in comparison.stacks if stack.counts]
        copied = sum(len(stack.copies) > 1 for _, stack in timed)
        level = 1 - (1 - protocol.confidence) / max(1, copied)  # Bonferroni: the intervals hold together
        rows = tuple(
            TransferRow(
                comparison.name,
                comparison_anchor(comparison),
                stack,
                column_units(comparison),
                mean_of(stack.copies, min(protocol.blocks, len(stack.copies)) - 1, level) if stack.copies else None,
            )
            for comparison, stack in timed
        )
        unit = time_unit(row.copy.value for row in rows if row.copy)
        without = tuple(
            words
            for comparison in comparisons
            for words in left_out(comparison, [stack.stack for stack in comparison.stacks if stack.counts])
        )
        return cls(rows, without, unit, units.percent(protocol.confidence))

    @property
    def answer(self) -> str:
        """Returns which stack's call leaves most of a step to compute when it returns, and what the copies to host
        memory are shown to add."""
        returning = [row for row in self.rows if row.figures.early]
        sentences = []
        if returning:
            early = max(returning, key=lambda row: row.figures.early or 0)
            share = f"{units.percent(early.figures.early)} of a step ({early.figures.stack} on {early.comparison})"
            sentences.append(f"up to {share} is still to compute when the call returns")
        if copied := [row for row in self.rows if row.copy]:
            sentences.append(copies_words(copied, self.copy_unit))
        return f"{capital('; '.join(sentences))}." if sentences else "No stack has times by other clocks than synced."


def copies_words(copied: Sequence[TransferRow], unit: Unit) -> str:
    """Returns which copies of a result to host memory are shown to add time, and the longest of these with its
    interval."""
    with_interval = [row for row in copied if row.copy and row.copy.low is not None]
    if not with_interval:
        return "what the copy of a result to host memory adds has no interval, which takes two processes of a stack"
    shown = [(row.copy, row) for row in with_interval if row.copy and row.is_shown]
    if not shown:
        return "no copy of a result to host memory is shown to add time: no difference is above its noise"
    copy, longest = max(shown, key=lambda pair: pair[0].value)
    cases = f"{len(shown)} of {counted(len(with_interval), 'case')}"
    return (
        f"copying the result to host memory is shown to add time in {cases}, most in {longest.figures.stack} on "
        f"{longest.comparison}: {unit(copy.value)} {units.interval(copy.low, copy.high, unit)}"
    )
