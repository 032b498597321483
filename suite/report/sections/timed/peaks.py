"""The section "Peak memory": the most memory that a timed process of each stack held, question by question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from suite import units
from suite.report.sections.labels import compared_stacks, comparison_anchor
from suite.report.sections.section import Context, Section
from suite.report.sections.sentences import counted, listed
from suite.report.tables import Table


@dataclass(frozen=True, slots=True)
class PeaksRow:
    """One question: its anchor, and the greatest peak in bytes of each stack whose results count and whose peak is
    known."""

    question: str
    anchor: str
    peaks: dict[str, float]


@dataclass(frozen=True, slots=True)
class PeaksSection(Section):
    """The questions on which some peak is known, and the stacks that have one on any of these."""

    rows: tuple[PeaksRow, ...]
    stacks: tuple[str, ...]

    name = "peaks"
    nav = "Peak memory"
    terms = ("peak memory",)

    @classmethod
    def of(cls, context: Context) -> PeaksSection | None:
        """Returns the section; None where no timed process knows its peak."""
        rows = tuple(
            PeaksRow(comparison.name, comparison_anchor(comparison), peaks)
            for comparison in context.analysis.comparisons
            if (peaks := {s.stack: s.peak_bytes for s in comparison.stacks if s.counts and s.peak_bytes is not None})
        )
        known = {stack for row in rows for stack in row.peaks}
        stacks = tuple(stack for stack in compared_stacks(context.analysis) if stack in known)
        return cls(rows, stacks) if rows else None

    @property
    def answer(self) -> str:
        """Returns which stacks have the lowest and the highest peak on most questions, with the least and the greatest
        of these peaks."""
        low = self.extreme([min(row.peaks, key=row.peaks.__getitem__) for row in self.rows])
        high = self.extreme([max(row.peaks, key=row.peaks.__getitem__) for row in self.rows])
        return f"Lowest peak: {low}. Highest: {high}."

    def extreme(self, stacks: Sequence[str]) -> str:
        """Returns `numpy on 3 of 4 questions (118 MiB to 130 MiB)`. `stacks` has a stack for each row; the sentence
        names those that are most often there."""
        times = Counter(stacks)
        most = max(times.values())
        leaders = [stack for stack in self.stacks if times[stack] == most]
        peaks = [row.peaks[stack] for row, stack in zip(self.rows, stacks, strict=True) if stack in leaders]
        ends = dict.fromkeys(units.quantity(peak) for peak in (min(peaks), max(peaks)))
        each = " each" if len(leaders) > 1 else ""
        return f"{listed(leaders)} on {most:,} of {counted(len(self.rows), 'question')}{each} ({' to '.join(ends)})"

    def tables(self) -> Sequence[Table]:
        """Returns a line for each question."""
        lines = [[row.question, *(units.quantity(row.peaks.get(stack)) for stack in self.stacks)] for row in self.rows]
        return [Table("Peak memory of a timed process", ["question", *self.stacks], lines, numbers=self.stacks)]

    def console(self) -> Sequence[Table]:
        """Returns none: the table of each question has its peaks."""
        return ()
