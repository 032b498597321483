"""The base of the report's sections: each is one class, made once for a result set, with all that its formats show."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import polars as pl

from suite.answers.answer import ASKED, Answer, Asked, Function
from suite.answers.show import Part, parts
from suite.protocol import Protocol
from suite.report.sections.labels import comparison_anchor, panel_anchor
from suite.report.sections.mkl_note import MklNote
from suite.report.sections.timed.headlines import Headline
from suite.report.tables import Table, Value, told
from suite.results import Results
from suite.results.analysis import Analysis
from suite.results.frame import Frame
from suite.results.names import question_names


@dataclass(frozen=True, slots=True)
class Context:
    """The data that every section is made from: a set and its analysis. `names` has the name of each question by its
    comparison_id, `headlines` the answer to each comparison."""

    results: Results
    analysis: Analysis
    names: Mapping[str, str]
    headlines: Sequence[Headline]
    frame: Frame

    @property
    def protocol(self) -> Protocol:
        """Returns the protocol with whose constants the set was measured."""
        return self.analysis.protocol


@dataclass(frozen=True, slots=True)
class AnswerLine:
    """A line of the answers at the top: `before`, then the name of a stack, then `after`. `text` is the
    sentence as it reads without the question beside it; the name is bold where it `stands_out`."""

    question: str
    anchor: str
    text: str
    before: str
    stack: str = ""
    after: str = ""
    stands_out: bool = False


class Section:
    """One section of the report. A subclass is a frozen dataclass with what its template shows; it overrides the
    methods of those formats that show it.

    The template of a section is reports/templates/sections/NAME.html.j2, with its `name`. `nav` is its entry in the
    page's navigation, which leads to `anchor` (`name` by default). `key` is its field in JSON; a section without a key
    isn't in JSON. `topic` says what its questions ask, for the page's title. On the page a section is folded to its
    `heading` and its `answer`. `terms` are the words of the glossary that it uses: the page links them below it.
    A section that `grows` has a part for each question: a condensed page, of a set of very many cases, shows only its
    answer.
    """

    name: ClassVar[str]
    nav: ClassVar[str]
    anchor: ClassVar[str] = ""
    key: ClassVar[str] = ""
    topic: ClassVar[str] = ""
    terms: ClassVar[tuple[str, ...]] = ()
    grows: ClassVar[bool] = True

    @classmethod
    def of(cls, context: Context) -> Self | None:
        """Returns the section of a set; None if the set has nothing to show there."""
        raise NotImplementedError

    @classmethod
    def names(cls, analysis: Analysis) -> Mapping[str, str]:
        """Returns {comparison_id: name} of the questions that this section answers."""
        return {}

    @property
    def heading(self) -> str:
        """Returns its heading: by default its entry in the navigation. A subclass may have a constant in its place."""
        return self.nav

    @property
    def answer(self) -> str:
        """Returns one sentence that says what the section found, computed from the set. A reader sees only this
        sentence before opening the section; Markdown and JSON have it, too."""
        raise NotImplementedError

    @property
    def cause(self) -> MklNote | None:
        """Returns a likely cause of the ranking that the set itself knows, which stands beside the first sentence."""
        return None

    @property
    def functions(self) -> Sequence[str]:
        """Returns the anchors of functions whose text it shows."""
        return ()

    @property
    def template(self) -> str:
        """Returns the path of its template."""
        return f"sections/{self.name}.html.j2"

    @property
    def target(self) -> str:
        """Returns the id of its folded part, to which the navigation leads."""
        return self.anchor or self.name

    def answers(self) -> Sequence[AnswerLine]:
        """Returns the answers that the page begins with."""
        return ()

    def tables(self) -> Sequence[Table]:
        """Returns its tables in Markdown, short enough for a comment on a change."""
        return ()

    def console(self) -> Sequence[Table]:
        """Returns its tables on the console after a run: by default those in Markdown."""
        return self.tables()

    def lines(self) -> Iterable[Mapping[str, Value]]:
        """Returns its lines in CSV as {column: value}, by the columns in `HEADS` of suite/report/formats/export.py."""
        return ()

    def data(self) -> list[Any]:
        """Returns its value in JSON, the list under `key`."""
        return []


class AnswerSection(Section):
    """A section whose sentence and table are those of suite/answers: a file there has all that is particular to it."""

    asked: ClassVar[Asked]

    def __init__(self, context: Context, found: Answer) -> None:
        self.found = found
        self.baseline = context.analysis.baseline
        self.panels = {
            (comparison.name, cell.stack): panel_anchor(comparison, cell.stack)
            for comparison in context.analysis.comparisons
            for cell in comparison.cells
        }
        self.anchors = {comparison.name: comparison_anchor(comparison) for comparison in context.analysis.comparisons}

    @classmethod
    def of(cls, context: Context) -> Self | None:
        """Returns the section; None if the set has nothing to show there."""
        found = cls.asked.function(context.frame)
        return cls(context, found) if found else None

    @classmethod
    def names(cls, analysis: Analysis) -> Mapping[str, str]:
        if cls.asked.names:
            return cls.asked.names(analysis)
        heads = {row["comparison_id"]: row for row in analysis.counted if row["purpose"] == cls.asked.purpose}
        return question_names([*heads.values()])

    @property
    def heading(self) -> str:
        return self.asked.heading.format(baseline=self.baseline)

    @property
    def answer(self) -> str:
        return self.found.sentence

    @property
    def template(self) -> str:
        return "sections/answer.html.j2"

    @property
    def about(self) -> str:
        """What the page says above the table."""
        return self.asked.about

    @property
    def parts(self) -> list[Part]:
        """The table as it is shown."""
        return self.parts_of(self.found)

    def parts_of(self, found: Answer) -> list[Part]:
        """The table of this answer over some baseline."""
        return parts(found.table, self.asked.parts, self.asked.across, self.asked.shown)

    def answers(self) -> Sequence[AnswerLine]:
        return [
            AnswerLine(question, self.target, f"{question}: {sentence}", sentence)
            for question, sentence in self.found.by_question.items()
        ]

    def tables(self) -> Sequence[Table]:
        return self.whole() if self.asked.in_markdown else ()

    def console(self) -> Sequence[Table]:
        return self.whole() if self.asked.on_console and self.found.on_console else ()

    @property
    def brief(self) -> pl.DataFrame:
        """The table that Markdown has."""
        return self.found.table if self.found.in_brief is None else self.found.in_brief

    def lines(self) -> Iterable[Mapping[str, Value]]:
        return self.found.lines

    def whole(self) -> list[Table]:
        """The table of all questions at once; where stacks stand side by side, in its parts."""
        shown = self.parts if self.asked.across or self.asked.shown else parts(self.brief)
        tables = [told(part, self.heading) for part in shown]
        return [*tables[:-1], *(replace(last, after=self.found.also) for last in tables[-1:])]

    def data(self) -> list[Any]:
        return self.found.table.to_dicts()


def section_of(function: Function, kind: type[AnswerSection] = AnswerSection) -> type[AnswerSection]:
    """Returns the section of an answer; a `kind` shows more of it."""
    asked = ASKED[function.__name__]
    words = {
        "asked": asked,
        "name": asked.name,
        "nav": asked.nav,
        "key": asked.name,
        "terms": asked.terms,
        "topic": asked.topic,
        "grows": asked.grows,
    }
    return type(f"{asked.name.title()}Section", (kind,), words)
