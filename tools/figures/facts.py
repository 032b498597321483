"""The facts of README's sentences: each is computed from a table of the set that its marker names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from io import StringIO
from typing import TYPE_CHECKING

from suite import units
from suite.answers.sentences import listed
from suite.cli.terminal.output import print_tables
from suite.errors import UserError
from suite.machine.description import place
from suite.page.map.frameworks import APART, named, pairs
from suite.page.report import Report
from suite.page.sections.timed.comparisons import ComparisonsSection
from suite.page.sections.timed.units import column_units
from suite.verdicts.grouping import grouped

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

    def said(self, word: str) -> str:
        """Returns how many rows have a verdict: `faster on 3 of 3`."""
        return f"{word} on {self.verdicts.count(word)} of {len(self.verdicts)}"


def over_baseline(source: Source, stack: str, track: str) -> Factors:
    """Returns the speedups of a stack on all questions of a track. Raises UserError if there are none."""
    asked = [each.of(stack) for each in source.analysis.comparisons if each.head["track"] == track]
    known = [case.speedup for case in asked if case and case.counts and case.speedup]
    return factors([each.ratio.value for each in known], [each.verdict for each in known], f"{stack}, {track} track")


def of_frameworks(source: Source, question: str, ahead: str, behind: str, does: str) -> str:
    """Returns what the page says of two frameworks: `JAX trains BERT 1.72× as fast as PyTorch [1.65, 1.79] (336 against
    579 ms, jit against eager)`. Raises UserError if the set doesn't show that the first is faster."""
    (comparison,) = (each for each in source.analysis.comparisons if each.name == question)
    for pair in pairs(comparison, source.analysis.pairing):
        sides = (pair.ours, pair.base) if pair.is_ahead else (pair.base, pair.ours)
        if [named(side)[0] for side in sides] == [ahead, behind] and pair.speedup.verdict in APART:
            return pair.told(does, column_units(comparison).steady)
    raise UserError(f"A sentence says that {ahead} is faster than {behind} on {question}; the set doesn't show that.")


def where(source: Source) -> str:
    """Returns the machine in a few words. Raises UserError if the set's cases didn't have all of its cores."""
    if found := place(source.results.machine, source.analysis.counted):
        return found
    raise UserError("A sentence names the machine of a set whose cases had fewer cores, or other ones.")


def wrong(source: Source, workload: str) -> str:
    """Returns which frameworks return what in place of what; of a framework that isn't always wrong, how it executes.
    Raises UserError if no stack is wrong, or if two are wrong in different ways."""
    asked = [case for each in source.analysis.comparisons if each.head["workload"] == workload for case in each.cases]
    who, values = [], set()
    for name, cases in grouped(asked, lambda case: named(case)[0]).items():
        if failed := [case for case in cases if case.outcome == "wrong"]:
            values |= {found for case in failed for found in re.findall(r"\S+ in place of [\w.+-]+", case.reason)}
            ways = listed([named(case)[1] for case in failed])
            who.append(name if len(failed) == len(cases) else f"{name} ({ways})")
    if len(values) != 1:
        raise UserError(f"A sentence says one wrong result of {workload}; the set has {len(values)}.")
    return f"{listed(who)} return {values.pop()}"


def factors(values: Sequence[float], verdicts: Sequence[str], of: str) -> Factors:
    if not values:
        raise UserError(f"The set has no ratio of {of}: a sentence says one.")
    return Factors(values, verdicts, of)


def printed(source: Source, stacks: Sequence[str], questions: Sequence[str]) -> str:
    """Returns what `run` prints of some stacks on some questions, of a set that may have more: each question's table,
    and who leads."""
    report = Report(source.results, source.results.analysis(stacks=stacks, questions=questions))
    section, lines = report.section(ComparisonsSection), StringIO()
    with redirect_stdout(lines):
        print_tables(replace(table, after=()) for table in (section.console() if section else ()))
    sentence = f"{report.frameworks}\n{report.overview.sentence if report.overview else ''}"
    return "\n".join(line.rstrip() for line in f"{lines.getvalue()}{sentence}".splitlines() if line.strip())
