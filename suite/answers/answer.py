"""An answer: a sentence and a table. The page, Markdown, the console, JSON and a notebook's frame follow from the two.

A module of this room has one function, whose docstring is what the page says above the table: `*word*` is emphasis,
[word] leads to the glossary. It returns None for a set that has nothing to show there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import getdoc
from typing import TYPE_CHECKING, Any

import polars as pl

from suite.case import Outcome, Purpose

if TYPE_CHECKING:
    from suite.answers.figures.figure import Figure
    from suite.results.frame import Frame

Function = Callable[["Frame"], "Answer | None"]


@dataclass(frozen=True)
class Answer:
    """What was found. The columns of `table` are those of suite/results/columns.py; a column without any value isn't
    shown. `figures` are drawn above it, and the `charts` each above its part; a chart is the same over every baseline.
    `also` are sentences below. `by_question` has the sentence on each question that the page begins with, `lines` what
    CSV has. Markdown has the table `in_brief` in place of a long one."""

    sentence: str
    table: pl.DataFrame
    figures: Sequence[Figure | None] = ()
    charts: Mapping[str, Figure | None] = field(default_factory=dict)
    also: Sequence[str] = ()
    on_console: bool = True
    by_question: Mapping[str, str] = field(default_factory=dict)
    lines: Sequence[Mapping[str, Any]] = ()
    in_brief: pl.DataFrame | None = None


@dataclass(frozen=True)
class Asked:
    """An answer's function with its words: the entry in the page's navigation, a longer heading, the field in JSON, the
    words of the glossary that it uses. A table is divided into `parts` by a column; with `across`, that column's values
    stand side by side. Only the columns `shown` are shown, if any is named. A set of processes of this `purpose` alone
    has the `topic` in its title. One `over_baselines` is given over each baseline that a reader can choose. A condensed
    page leaves out the table of one that `grows`. Above a table that can be `filtered_by` words stands a box for them,
    with these as an example."""

    function: Function
    name: str
    nav: str
    heading: str
    terms: tuple[str, ...] = ()
    parts: str = ""
    across: str = ""
    shown: tuple[str, ...] = ()
    in_markdown: bool = True
    on_console: bool = True
    topic: str = ""
    purpose: str = ""
    over_baselines: bool = False
    grows: bool = True
    filtered_by: str = ""

    @property
    def about(self) -> str:
        """What the page says above the table."""
        return getdoc(self.function) or ""


ASKED: dict[str, Asked] = {}


def answer(nav: str, *, heading: str = "", **words: Any) -> Callable[[Function], Function]:
    """Registers an answer under its function's name; `words` are further fields of `Asked`."""

    def register(function: Function) -> Function:
        name = function.__name__
        ASKED[name] = Asked(function, name, nav, heading or nav, **words)
        return function

    return register


def in_csv(table: pl.DataFrame, purpose: Purpose) -> list[dict[str, Any]]:
    """Returns the lines in CSV of untimed processes, one of a table's lines each."""
    return [
        {"purpose": purpose, "ok": int(row["outcome"] == Outcome.OK), "planned": 1} | row
        for row in table.iter_rows(named=True)
    ]
