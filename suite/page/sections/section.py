"""The base of the report's sections: each is made once for a result set, with all that its formats show."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from suite.answers.answer import Answer, Asked
from suite.answers.show import Part, parts
from suite.page.sections.labels import comparison_anchor, panel_anchor
from suite.page.sections.mkl_note import MklNote
from suite.page.sections.timed.headlines import Headline
from suite.page.tables import Table, Value, told
from suite.results.frame import Frame


@dataclass(frozen=True, slots=True)
class Context:
    """What every section is made from: a set's tables, and the answers to its comparisons."""

    frame: Frame
    headlines: Sequence[Headline]


class Section:
    """One section of the report. A subclass overrides the methods of those formats that show it; one in sentences needs
    none, since its template has all that is `shown`.

    `nav` is its entry in the page's navigation. `key` is its field in JSON; a section without a key isn't in JSON. On
    the page a section is folded to its `heading` and its `answer`, one sentence that says what it found, computed from
    the set; Markdown and JSON have it, too. `terms` are the words of the glossary that it uses: the page links them
    below it. A section that `grows` has a part for each question: a condensed page, of a set of very many cases, shows
    only its answer.
    """

    key = ""
    terms: tuple[str, ...] = ()
    grows = False

    def __init__(
        self, name: str, nav: str, answer: str, heading: str = "", shown: Mapping[str, Any] | None = None
    ) -> None:
        self.name, self.nav, self.answer, self.heading, self.shown = name, nav, answer, heading or nav, shown or {}
        self.template = f"sections/{name}.html.j2"

    @property
    def cause(self) -> MklNote | None:
        """A likely cause of the ranking that the set itself knows, which stands beside the first sentence."""
        return None

    @property
    def functions(self) -> Sequence[str]:
        return ()

    def answers(self) -> Iterable[tuple[str, Headline]]:
        """Returns the answers that the page begins with, each with the anchor of its question."""
        return ()

    def tables(self) -> Sequence[Table]:
        """Returns its tables in Markdown, short enough for a comment on a change."""
        return ()

    def console(self) -> Sequence[Table]:
        """Returns its tables on the console after a run: by default those in Markdown."""
        return self.tables()

    def lines(self) -> Iterable[Mapping[str, Value]]:
        """Returns its lines in CSV as {column: value}, by the columns in `HEADS` of suite/page/formats/export.py."""
        return ()

    def data(self) -> list[Any]:
        """Returns its value in JSON, the list under `key`."""
        return []


class AnswerSection(Section):
    """A section whose sentence and table are those of suite/answers: a file there has all that is particular to it."""

    def __init__(self, asked: Asked, context: Context, found: Answer) -> None:
        self.baseline = context.frame.analysis.baseline
        super().__init__(asked.name, asked.nav, found.sentence, asked.heading.format(baseline=self.baseline))
        self.asked, self.found, self.about = asked, found, asked.about
        self.key, self.terms, self.grows = asked.name, asked.terms, asked.grows
        self.template = "sections/answer.html.j2"
        comparisons = context.frame.analysis.comparisons
        self.anchors = {comparison.name: comparison_anchor(comparison) for comparison in comparisons}
        self.panels = {
            (comparison.name, cell.stack): panel_anchor(comparison, cell.stack)
            for comparison in comparisons
            for cell in comparison.cases
        }

    @property
    def parts(self) -> list[Part]:
        return parts(self.found.table, self.asked.parts, self.asked.across, self.asked.shown)

    def answers(self) -> Iterable[tuple[str, Headline]]:
        return [(self.name, Headline(*said)) for said in self.found.by_question.items()]

    def tables(self) -> Sequence[Table]:
        return self.whole() if self.asked.in_markdown else ()

    def console(self) -> Sequence[Table]:
        return self.whole() if self.asked.on_console and self.found.on_console else ()

    @property
    def brief(self) -> pl.DataFrame:
        return self.found.table if self.found.in_brief is None else self.found.in_brief

    def lines(self) -> Iterable[Mapping[str, Value]]:
        return self.found.lines

    def whole(self) -> list[Table]:
        """Returns the table of all questions at once; where stacks stand side by side, in its parts."""
        shown = self.parts if self.asked.across or self.asked.shown else parts(self.brief)
        tables = [told(part, self.heading) for part in shown]
        return [*tables[:-1], *(replace(last, after=self.found.also) for last in tables[-1:])]

    def data(self) -> list[Any]:
        return self.found.table.to_dicts()
