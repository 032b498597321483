"""The section "Published elsewhere": times that other documents published of this set's questions, beside its own and
the least time that the published chip needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from suite import units
from suite.report.sections.labels import comparison_anchor
from suite.report.sections.section import Context, Section
from suite.report.sections.sentences import counted
from suite.report.tables import Table
from suite.results.analysis import Comparison
from suite.results.documents.figures import Document, PublishedTime, documents
from suite.results.documents.reach import IMPOSSIBLE, POSSIBLE, TimedWork, dims_of, least_seconds
from suite.results.questions.grouping import grouped

HEADS = ("Question", "Stack", "Published", "On", "Its chip needs at least", "Measured here", "Source")
NAMED = {"host": "with the copy to host memory", "device": "", "not said": ""}


@dataclass(frozen=True, slots=True)
class PublishedRow:
    """One published time, in seconds. `least` is None where the document names no chip; `here` is this set's median by
    the clock that ends where the published one does, None where the stack has no time that counts."""

    question: str
    anchor: str
    stack: str
    published: float
    device: str
    ends: str
    least: float | None
    verdict: str
    here: float | None
    source: str
    url: str

    @property
    def bound(self) -> str:
        """Returns the least time, with a word where the published time is below it."""
        if self.least is None:
            return "chip not named"
        return units.seconds(self.least) + (f": {self.verdict}" if self.verdict != POSSIBLE else "")

    def line(self) -> list[str]:
        """Returns a line of the table."""
        how = NAMED[self.ends]
        published = units.seconds(self.published) + (f", {how}" if how else "")
        return [self.question, self.stack, published, self.device, self.bound, units.seconds(self.here), self.source]


@dataclass(frozen=True, slots=True)
class PublishedSection(Section):
    """The published times of the set's questions."""

    rows: tuple[PublishedRow, ...]

    name = "published"
    nav = "Published elsewhere"
    grows = False
    key = "published"

    @classmethod
    def of(cls, context: Context) -> PublishedSection | None:
        """Returns the section; None for a set that has no question of a document."""
        by_step = grouped(context.analysis.comparisons, lambda it: (it.head.text("workload"), it.head.text("pass")))
        rows = tuple(
            row(comparison, document, time)
            for document in documents()
            for time in document.times
            for comparison in asking(time, by_step.get((time.workload, time.pass_), ()))
        )
        return cls(rows) if rows else None

    @property
    def answer(self) -> str:
        """Returns how many published times can't be, and how near the others come to what is measured here."""
        known = [row for row in self.rows if row.here]
        can_not = sum(row.verdict == IMPOSSIBLE for row in self.rows)
        shown = f"{counted(len(self.rows), 'published time')} of these questions; {can_not} can't be a whole step"
        if not known:
            return f"{shown}."
        ratios = [row.published / row.here for row in known if row.here]
        return f"{shown}; published over measured here: {units.ratio(min(ratios))} to {units.ratio(max(ratios))}."

    @property
    def impossible(self) -> Sequence[str]:
        """Returns a sentence for each published time that can't be what its document calls it."""
        return [
            f"{row.question}: {row.stack}'s published {units.seconds(row.published)} on a {row.device} {IMPOSSIBLE} a "
            f"whole step, which takes at least {units.seconds(row.least)} there. docs/published.md has the arithmetic."
            for row in self.rows
            if row.verdict == IMPOSSIBLE
        ]

    def tables(self) -> Sequence[Table]:
        """Returns a line for each published time."""
        lines = [row.line() for row in self.rows]
        return [Table("Published elsewhere", HEADS, lines, numbers=("Measured here",), after=self.impossible)]

    def console(self) -> Sequence[Table]:
        """Returns nothing: a run's end is about what was measured."""
        return []

    def data(self) -> list[Any]:
        """Returns the rows."""
        return [asdict(row) for row in self.rows]


def asking(time: PublishedTime, comparisons: Sequence[Comparison]) -> list[Comparison]:
    """Returns the questions that a document published a time of, among those on its workload and pass."""
    dims = dims_of(time) if comparisons else {}
    return [comparison for comparison in comparisons if comparison.head.mapping("dims") == dims]


def row(comparison: Comparison, document: Document, time: PublishedTime) -> PublishedRow:
    """Returns the row of one published time."""
    figures = next((stack for stack in comparison.stacks if stack.stack == time.stack and stack.counts), None)
    least = least_seconds(time)
    return PublishedRow(
        question=comparison.name,
        anchor=comparison_anchor(comparison),
        stack=time.stack,
        published=time.seconds,
        device=time.device,
        ends=time.ends,
        least=least,
        verdict=TimedWork("", 0, least).verdict(time.seconds) if least is not None else "",
        here=None if figures is None else figures.fetch if time.ends == "host" else figures.median.value,
        source=document.title,
        url=document.url,
    )
