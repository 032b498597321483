"""The section "Peak memory": the most memory that a timed process of each stack held, question by question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from suite import units
from suite.report.map.page_map import ranked_stacks
from suite.report.sections.labels import comparison_anchor, outcome_text
from suite.report.sections.section import Context, Section
from suite.report.sections.sentences import counted, listed
from suite.report.tables import Table
from suite.results.analysis import Comparison
from suite.results.outcomes import Cell
from suite.results.stack_figures import StackFigures

NOT_ASKED = "not asked"
ENDED = "ended"  # the part of a peak that only the cgroup saw


@dataclass(frozen=True, slots=True)
class PeaksRow:
    """One question: its anchor, and the greatest peak in bytes of each stack whose results count and whose peak is
    known. `ended` has the bytes of that peak that were in processes which had ended, such as compilers; `without`
    says of each other stack why it has no peak."""

    question: str
    anchor: str
    peaks: Mapping[str, float]
    ended: Mapping[str, float] = field(default_factory=dict)
    without: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, comparison: Comparison) -> PeaksRow:
        """Returns the row of a question."""
        known = [stack for stack in comparison.stacks if stack.counts and stack.peak_bytes is not None]
        parts = {stack.stack: dict(stack.peak_parts) for stack in known}
        peaks = {stack.stack: stack.peak_bytes for stack in known if stack.peak_bytes is not None}
        return cls(
            comparison.name,
            comparison_anchor(comparison),
            peaks,
            {stack: split[ENDED] for stack, split in parts.items() if ENDED in split},
            {
                cell.stack: "peak unknown" if cell.counts else ended_with(cell, comparison.of(cell.stack))
                for cell in comparison.cells
                if cell.stack not in peaks
            },
        )

    def words(self, stack: str) -> str:
        """Returns the peak of a stack, `1.90 GiB`, or why it has none."""
        return units.quantity(self.peaks[stack]) if stack in self.peaks else self.without.get(stack, NOT_ASKED)

    def in_ended(self, stack: str) -> str:
        """Returns what of the peak was in ended processes, `1.50 GiB ended`; empty if nothing."""
        return f"{units.quantity(self.ended[stack])} ended" if stack in self.ended else ""


def ended_with(cell: Cell, figures: StackFigures | None) -> str:
    """Returns how a stack ended whose result doesn't count. A peak that was read all the same stands beside it, as in
    the question's tables and behind its cell."""
    peak = figures.peak_bytes if figures else None
    return outcome_text(cell) if peak is None else f"{outcome_text(cell)}, {units.quantity(peak)}"


@dataclass(frozen=True, slots=True)
class PeaksSection(Section):
    """The questions on which some peak is known, and all stacks in the order of the map's columns."""

    rows: tuple[PeaksRow, ...]
    stacks: tuple[str, ...]

    name = "peaks"
    nav = "Peak memory"
    terms = ("peak memory",)

    @classmethod
    def of(cls, context: Context) -> PeaksSection | None:
        """Returns the section; None where no timed process knows its peak."""
        rows = tuple(row for row in map(PeaksRow.of, context.analysis.comparisons) if row.peaks)
        return cls(rows, ranked_stacks(context.analysis)) if rows else None

    @property
    def splits(self) -> bool:
        """Whether some peak was partly in processes that had ended."""
        return any(row.ended for row in self.rows)

    @property
    def answer(self) -> str:
        """Returns which stacks have the lowest and the highest peak on most questions, with the least and the greatest
        of these peaks; then the peak with most bytes in processes that had ended."""
        low = self.extreme([min(row.peaks, key=row.peaks.__getitem__) for row in self.rows])
        high = self.extreme([max(row.peaks, key=row.peaks.__getitem__) for row in self.rows])
        return f"Lowest peak: {low}. Highest: {high}.{self.in_ended}"

    @property
    def in_ended(self) -> str:
        """Returns a sentence on the peak with most bytes in ended processes; empty if no peak has any."""
        found = [(size, stack, row) for row in self.rows for stack, size in row.ended.items()]
        if not found:
            return ""
        size, stack, row = max(found, key=lambda entry: entry[0])
        return (
            f" Most in ended processes, such as compilers: {units.quantity(size)} of the "
            f"{units.quantity(row.peaks[stack])} of {stack} on {row.question}."
        )

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
        lines = [
            [row.question, *(", ".join(filter(None, [row.words(s), row.in_ended(s)])) for s in self.stacks)]
            for row in self.rows
        ]
        return [Table("Peak memory of a timed process", ["question", *self.stacks], lines, numbers=self.stacks)]

    def console(self) -> Sequence[Table]:
        """Returns none: the table of each question has its peaks."""
        return ()
