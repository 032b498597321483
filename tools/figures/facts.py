"""The facts of README's sentences: each is computed from a table of the set that its marker names."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from io import StringIO
from typing import TYPE_CHECKING

import polars as pl

from suite import units
from suite.cli.terminal.output import print_tables
from suite.errors import UserError
from suite.page.report import Report
from suite.page.sections.timed.comparisons import ComparisonsSection

if TYPE_CHECKING:
    from tools.figures.tables import Source


@dataclass(frozen=True, slots=True)
class Factors:
    """How many times as long, or as fast, in each of some rows, and the rows' verdicts; `of` says what the rows are."""

    values: Sequence[float]
    verdicts: Sequence[str]
    of: str = ""

    def __str__(self) -> str:
        """Returns the range that all rows lie in: `1.69 to 1.99`."""
        least, greatest = (units.digits(end(self.values)) for end in (min, max))
        return least if least == greatest else f"{least} to {greatest}"

    def all(self, word: str) -> Factors:
        """Returns itself if all rows have a verdict. Raises UserError if not: a sentence in a template says so."""
        if {*self.verdicts} != {word}:
            raise UserError(f"A sentence says that every row of {self.of} is {word}; it is {self.said(word)}.")
        return self

    def said(self, word: str) -> str:
        """Returns how many rows have a verdict: `faster on 3 of 3`."""
        return f"{word} on {self.verdicts.count(word)} of {len(self.verdicts)}"


def over_baseline(source: Source, stack: str, track: str) -> Factors:
    """Returns the speedups of a stack on all questions of a track. Raises UserError if there are none."""
    asked = [each.of(stack) for each in source.analysis.comparisons if each.head["track"] == track]
    known = [case.speedup for case in asked if case and case.counts and case.speedup]
    return factors([each.ratio.value for each in known], [each.verdict for each in known], f"{stack}, {track} track")


def over_track(source: Source, stack: str, track: str, base: str) -> Factors:
    """Returns the speedups of one track of a stack over another on all questions. Raises UserError if there are
    none."""
    fields = [each for each in source.analysis.within_set if each.field == "track" and track in each.values]
    known = [
        speedup
        for field in fields
        for speedup in field.over(base)
        if speedup.stack == track and field.stacks[speedup.comparison_id] == stack
    ]
    return factors([each.ratio.value for each in known], [each.verdict for each in known], f"{stack}, {track}")


def unified_over_native(sources: Sequence[Source], unified: str, workload: str = "", but: str = "") -> Factors:
    """Returns how many times as long a unified stack takes as the native one: in every row of some sets' answer
    `unified`, of one workload, or of all but one. Raises UserError if there are none."""
    lines = pl.DataFrame([line for source in sources for _, part in source.answer("unified") for line in part])
    lines = lines.filter(pl.col("unified") == unified, pl.col("speedup").is_not_null())
    asked = pl.col("question").str.split(" ").list.first()
    if workload or but:
        lines = lines.filter(asked == workload if workload else asked != but)
    return factors((1 / lines["speedup"]).to_list(), lines["verdict"].to_list(), f"{unified}, {workload}")


def factors(values: Sequence[float], verdicts: Sequence[str], of: str) -> Factors:
    if not values:
        raise UserError(f"The set has no ratio of {of}: a sentence says one.")
    return Factors(values, verdicts, of)


def wrong(source: Source, stack: str, workload: str) -> str:
    """Returns how far off a wrong result is, as a percentage. Raises UserError if no row shows one."""
    rows = (row for row in source.results.rows if (row["stack"], row["workload"]) == (stack, workload))
    errors = [row["relative_error"] for row in rows if row["outcome"] == "wrong" and row["relative_error"]]
    if not errors:
        raise UserError(f"The set has no wrong result of {stack} on {workload}: a sentence says one.")
    return units.percent(max(errors))


def printed(source: Source, stacks: Sequence[str], questions: Sequence[str]) -> str:
    """Returns what `run` prints of some stacks on some questions, of a set that may have more: each question's table,
    and who leads."""
    report = Report(source.results, source.results.analysis(stacks=stacks, questions=questions))
    section, lines = report.section(ComparisonsSection), StringIO()
    with redirect_stdout(lines):
        print_tables(replace(table, after=()) for table in (section.console() if section else ()))
    sentence = f"{report.frameworks}\n{report.overview.sentence if report.overview else ''}"
    return "\n".join(line.rstrip() for line in f"{lines.getvalue()}{sentence}".splitlines() if line.strip())
