"""What `./stackwars compare` shows: further sets compared with a first one, or the values of a field within one set.

suite/results/between_sets.py and within_set.py compute the numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, astuple, dataclass
from typing import Any

import polars as pl

from suite import units
from suite.answers.figures.axes import Plot
from suite.answers.figures.plots import forest, ratio_axis
from suite.answers.show import Part, part
from suite.answers.ways import EXPLAINED, TITLES, settings
from suite.report.map.change_map import change_map, moved_cases
from suite.report.map.page_map import Map
from suite.report.tables import VERSION, Export, Table, told
from suite.results.between_sets import CaseChange, SetPair
from suite.results.frame import ends
from suite.results.within_set import FieldComparison
from suite.stats import Estimate

CASES: dict[str, Any] = {
    **dict.fromkeys(("question", "stack", "first_outcome", "second_outcome"), pl.String),
    **dict.fromkeys(("first_seconds", "second_seconds"), pl.Float64),
    "verdict": pl.String,
    **dict.fromkeys(("speedup", "speedup_low", "speedup_high"), pl.Float64),
    "reason": pl.String,
}
SHOWN = {name: name.replace("first", "before").replace("second_", "after_") for name in CASES}  # by suite/answers
NO_CASES = Part("", (), ())
BEHAVIOUR_HEADS = ("probe", "aspect", "stack", "before", "after")
UNJUDGED = "unjudged"  # kind of a ratio without a verdict, since the machines or settings of the two sets differ
ALONE_SHOWN = 10  # so many of the cases that only one set has are listed; the others are counted


@dataclass(frozen=True, slots=True)
class Compared:
    """One comparison on the page: a further set with the first (`pair`), or the values of a field within one set
    (`within_set`). Both have a title, the answer, further sentences and a plot for each question."""

    anchor: str
    title: str
    answer: str
    sentences: tuple[str, ...]
    plots: tuple[Plot, ...]
    within_set: Part | None = None
    pair: SetPair | None = None

    @property
    def map(self) -> Map | None:
        """The map of two sets."""
        return change_map(self.anchor, self.pair) if self.pair else None

    @property
    def table(self) -> Part | None:
        """The cases that both sets have; None without a timed one. Outcomes are in it unless all are ok."""
        if self.pair is None or not self.pair.changes:
            return None
        found = cases(self.pair)
        if {*found["first_outcome"], *found["second_outcome"]} == {"ok"}:
            found = found.drop("first_outcome", "second_outcome")
        return part("", found.rename({name: SHOWN[name] for name in found.columns}))

    @property
    def moved_cases(self) -> tuple[CaseChange, ...]:
        """The cases that became faster or slower or ended with another outcome, the greatest change first."""
        return moved_cases(self.pair) if self.pair else ()


def cases(pair: SetPair) -> pl.DataFrame:
    """Returns a line for each case that both sets have; a speedup is its time in the first over that in the second."""
    return pl.DataFrame(
        [
            {
                "question": change.name,
                "stack": change.stack,
                **dict(zip(("first_outcome", "second_outcome"), change.outcomes, strict=True)),
                **dict(zip(("first_seconds", "second_seconds"), change.seconds, strict=True)),
                "verdict": change.verdict,
                **(ends("speedup", change.ratio) if change.ratio else {}),
                "reason": change.why or change.note,
            }
            for change in pair.changes
        ],
        schema=CASES,
    )


def compared_sets(pairs: Sequence[SetPair], threshold: float, tie: float) -> list[Compared]:
    """Returns the comparison of each further set with the first."""
    return [
        Compared(
            anchor=f"set-{number}",
            title=f"{pair.second} against {pair.first}",
            answer=answer(pair, threshold),
            sentences=tuple(sentences(pair)),
            plots=plots(
                f"set-{number}",
                ((change.name, change.stack, change.ratio, change.verdict) for change in pair.changes),
                tie,
            ),
            pair=pair,
        )
        for number, pair in enumerate(pairs, 1)
    ]


def compared_field(comparison: FieldComparison, base: str, tie: float) -> Compared:
    """Returns the comparison of a field's other values with its value `base`, within one set."""
    lines, title = comparison.over(base), TITLES[comparison.field]
    entries = (
        (
            line.question,
            f"{line.stack}, {line.speedup.stack}" if len(comparison.values) > 2 else line.stack,
            line.speedup.ratio,
            line.speedup.verdict,
        )
        for line in lines
    )
    anchor = f"w-{comparison.field}"
    return Compared(
        anchor=anchor,
        title=title,
        answer=EXPLAINED[comparison.field],
        sentences=(),
        plots=plots(anchor, entries, tie),
        within_set=part(title, settings(comparison, base).drop("by")),
    )


def plots(anchor: str, entries: Iterable[tuple[str, str, Estimate | None, str | None]], tie: float) -> tuple[Plot, ...]:
    """Returns a plot for each question, all on one axis, from (question, stack, ratio, verdict); a case without a ratio
    isn't drawn."""
    drawn: dict[str, list[tuple[str, Estimate, str]]] = {}
    for question, stack, ratio, verdict in entries:
        if ratio:
            drawn.setdefault(question, []).append((stack, ratio, verdict or UNJUDGED))
    axis = ratio_axis((ratio for lines in drawn.values() for _, ratio, _ in lines), tie)
    return tuple(
        forest(f"{anchor}-q{number}", question, lines, tie, axis)
        for number, (question, lines) in enumerate(sorted(drawn.items()), 1)
    )


def answer(pair: SetPair, threshold: float) -> str:
    """Returns sentences on how many timed cases and how many observed classes changed."""
    parts = [times_answer(pair, threshold)] if pair.changes or not pair.observed.common else []
    if pair.observed.common:
        parts.append(f"{len(pair.observed.moved)} of {pair.observed.common} observed classes changed.")
    return " ".join(parts)


def times_answer(pair: SetPair, threshold: float) -> str:
    """Returns a sentence on how many timed cases changed."""
    if pair.unlike:
        return f"The sets differ in {', '.join(pair.unlike)}: nothing is called faster."
    worse = len(pair.regressions(threshold))
    changed = sum(change.verdict in ("faster", "slower") for change in pair.changes)
    return (
        f"{changed} of {len(pair.changes)} cases changed; {worse} {'is' if worse == 1 else 'are'} worse by more "
        f"than {units.percent(threshold - 1)}, or no longer ok."
    )


def sentences(pair: SetPair) -> Iterable[str]:
    """Yields what a reader must know of the two runs."""
    if pair.versions:
        yield f"Versions that differ, first and second set: {', '.join(pair.versions)}."
    if pair.drift is not None:
        yield (
            f"The machine's f32 ceilings in the two runs differ by {units.percent(pair.drift - 1)}: a smaller change "
            "of a case may come from the machine."
        )
    if pair.shift is not None:
        yield (
            f"The median of all ratios is {units.ratio(pair.shift)}: if all cases changed alike, the machine may have "
            "changed, and not the stacks."
        )


def export_sets(pairs: Sequence[SetPair], threshold: float, tie: float) -> Export:
    """Returns the comparison of each further set with the first, for every format."""
    compared = compared_sets(pairs, threshold, tie)
    tables = [
        told(each.table or NO_CASES, each.title, [each.answer], [*each.sentences, *alone_lines(pair.alone)])
        for each, pair in zip(compared, pairs, strict=True)
    ]
    tables += [
        Table(f"{each.title}: behaviour", BEHAVIOUR_HEADS, [[*astuple(moved)] for moved in pair.observed.moved])
        for each, pair in zip(compared, pairs, strict=True)
        if pair.observed.moved
    ]
    lines = [[pair.first, pair.second, *line] for pair in pairs for line in cases(pair).rows()]
    return Export(tables, ("first", "second", *CASES), lines, [pair_json(pair, threshold) for pair in pairs])


def export_field(comparison: FieldComparison, base: str, set_id: str, tie: float) -> Export:
    """Returns the comparison of a field's values within one set, for every format."""
    compared, found = compared_field(comparison, base, tie), settings(comparison, base)
    table = told(compared.within_set or NO_CASES, before=[compared.answer])
    data = {"version": VERSION, "set": set_id, "by": comparison.field, "cases": found.to_dicts()}
    return Export([table], found.columns, [*found.iter_rows()], [data])


def alone_lines(alone: Sequence[str]) -> list[str]:
    """Returns the first of the cases that only one set has, and the number of the others."""
    others = len(alone) - ALONE_SHOWN
    return [*alone[:ALONE_SHOWN], *([f"{others} more cases are in one set alone."] if others > 0 else [])]


def change_word(change: CaseChange) -> str:
    """Returns the verdict of a case. Without one, returns the outcomes in both sets if a time is missing, else a
    dash."""
    lacks_time = None in change.seconds
    return change.verdict or (" → ".join(change.outcomes) if lacks_time else units.UNKNOWN)


def pair_json(pair: SetPair, threshold: float) -> dict[str, Any]:
    """Returns the comparison of two sets for JSON, in seconds; a ratio above 1 says that the second set is faster."""
    worse = pair.regressions(threshold) if not pair.unlike else ()
    return {
        "version": VERSION,
        "first": pair.first,
        "second": pair.second,
        "unlike": list(pair.unlike),
        "versions": list(pair.versions),
        "drift": pair.drift,
        "shift": pair.shift,
        "alone": list(pair.alone),
        "threshold": threshold,
        "observed": {"common": pair.observed.common, "moved": [asdict(moved) for moved in pair.observed.moved]},
        "regressions": [f"{change.name} {change.stack}" for change in worse],
        "cases": cases(pair).to_dicts(),
    }
