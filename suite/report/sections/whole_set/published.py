"""The section "Published elsewhere": times that other documents published of this set's questions, beside the set's own
times and the least time that the document's chip needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from suite import units
from suite.answers.sentences import counted
from suite.report.sections.labels import comparison_anchor
from suite.report.sections.section import Context, Section
from suite.report.tables import Table
from suite.results.analysis import Comparison
from suite.results.documents.figures import Document, PublishedTime, documents
from suite.results.documents.reach import IMPOSSIBLE, POSSIBLE, TimedWork, dims_of, least_seconds
from suite.results.questions.grouping import grouped

HEADS = ("Question", "Stack", "Published", "On", "Its chip needs at least", "Measured here", "Source")
COPIED = {"host": "with the copy to host memory", "device": "", "not said": ""}  # words on where a time ends


@dataclass(frozen=True, slots=True)
class PublishedRow:
    """One published time, in seconds. `least` is the least time that its chip needs, None if the document names no
    chip. `here` is this set's median by the clock that ends where the published one does, None if the stack has no time
    that counts."""

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
        """Returns the least time in words, with the verdict if the published time is below it."""
        if self.least is None:
            return "chip not named"
        return units.seconds(self.least) + (f": {self.verdict}" if self.verdict != POSSIBLE else "")

    def line(self) -> list[str]:
        """Returns a line of the table."""
        copied = COPIED[self.ends]
        published = units.seconds(self.published) + (f", {copied}" if copied else "")
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
        """Returns the section; None if no document published a time of the set's questions."""
        by_step = grouped(
            context.analysis.comparisons,
            lambda comparison: (comparison.head.text("workload"), comparison.head.text("pass")),
        )
        rows = tuple(
            row(comparison, document, time)
            for document in documents()
            for time in document.times
            for comparison in asking(time, by_step.get((time.workload, time.pass_), ()))
        )
        return cls(rows) if rows else None

    @property
    def answer(self) -> str:
        """Returns how many published times are impossible, and the range of published over measured times."""
        known = [row for row in self.rows if row.here]
        impossible = sum(row.verdict == IMPOSSIBLE for row in self.rows)
        shown = f"{counted(len(self.rows), 'published time')} of these questions; {impossible} can't be a whole step"
        if not known:
            return f"{shown}."
        ratios = [row.published / row.here for row in known if row.here]
        return f"{shown}; published over measured here: {units.ratio(min(ratios))} to {units.ratio(max(ratios))}."

    @property
    def impossible(self) -> Sequence[str]:
        """Returns a sentence for each published time that is too short for a whole step."""
        return [
            f"{row.question}: {row.stack}'s published {units.seconds(row.published)} on a {row.device} {IMPOSSIBLE} a "
            f"whole step, which takes at least {units.seconds(row.least)} there. "
            "docs/findings/published.md has the arithmetic."
            for row in self.rows
            if row.verdict == IMPOSSIBLE
        ]

    def tables(self) -> Sequence[Table]:
        """Returns a line for each published time."""
        lines = [row.line() for row in self.rows]
        return [Table("Published elsewhere", HEADS, lines, numbers=("Measured here",), after=self.impossible)]

    def console(self) -> Sequence[Table]:
        """Returns nothing: after a run, the console shows what was measured."""
        return []

    def data(self) -> list[Any]:
        """Returns an object for each published time, in seconds."""
        return [asdict(row) for row in self.rows]


def asking(time: PublishedTime, comparisons: Sequence[Comparison]) -> list[Comparison]:
    """Returns the comparisons that ask the question of a published time, those with its dims. `comparisons` are those
    with its workload and pass."""
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
