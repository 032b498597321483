"""What `./stackwars compare` shows: further sets compared with a first one, or the values of a field within one set.

suite/results/between_sets.py and within_set.py compute the numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, astuple, dataclass
from typing import Any

import polars as pl

from suite import units
from suite.answers.figures.figure import Figure
from suite.answers.figures.ratios import ratio_axis, ratios
from suite.answers.show import Part, part
from suite.answers.ways import EXPLAINED, TITLES, TYPES, settings
from suite.page.map.change_map import change_map, moved_cases
from suite.page.map.page_map import Map
from suite.page.tables import VERSION, Export, Table, told
from suite.results.analysis import Analysis
from suite.results.between_sets import CaseChange, SetPair
from suite.results.changes import Change, by_variant
from suite.results.columns import in_order
from suite.results.ratios import ends
from suite.results.within_set import FieldComparison

CASES: dict[str, Any] = {
    **dict.fromkeys(("first", "second", "question", "stack", "first_outcome", "second_outcome"), pl.String),
    **dict.fromkeys(("first_seconds", "second_seconds"), pl.Float64),
    "verdict": pl.String,
    **dict.fromkeys(("speedup", "speedup_low", "speedup_high"), pl.Float64),
    "reason": pl.String,
}
SHOWN = {
    "first_outcome": "before_outcome",
    "second_outcome": "after_outcome",
    "first_seconds": "before_seconds",
    "second_seconds": "after_seconds",
}  # names of suite/answers
NO_CASES = Part("", (), ())
BEHAVIOUR_HEADS = ("probe", "aspect", "stack", "before", "after")
REVISIONS = "The same question, with what it imports from each revision, over the first one. Above 1× is faster."
UNJUDGED = "unjudged"  # kind of a ratio without a verdict, since the machines or settings of the two sets differ
ALONE_SHOWN = 10  # so many of the cases that only one set has are listed; the others are counted


@dataclass(frozen=True, slots=True)
class Compared:
    """One comparison: a further set with the first (`pair`), or the values of a field within one set. Both have a title
    and an answer, further sentences, a line for each of the `cases`, and `data` for JSON."""

    anchor: str
    title: str
    answer: str
    sentences: Sequence[str]
    cases: pl.DataFrame
    data: dict[str, Any]
    tie: float
    pair: SetPair | None = None

    @property
    def map(self) -> Map | None:
        return change_map(self.anchor, self.pair) if self.pair else None

    @property
    def moved_cases(self) -> tuple[CaseChange, ...]:
        """The cases that became faster or slower or ended with another outcome, the greatest change first."""
        return moved_cases(self.pair) if self.pair else ()

    @property
    def table(self) -> Part | None:
        """The cases for people; None without a timed one. Outcomes of two sets are in it unless all are ok."""
        if self.cases.is_empty():
            return None
        if self.pair is None:
            return part("", self.cases.drop("by"))
        outcomes = ("first_outcome", "second_outcome")
        is_calm = all((self.cases[name] == "ok").all() for name in outcomes)
        shown = self.cases.drop("first", "second", *(outcomes if is_calm else ()))
        return part("", shown.rename(SHOWN, strict=False))

    @property
    def plots(self) -> list[Figure | None]:
        """A figure for each question, all on one axis; a case without a ratio isn't drawn."""
        known = self.cases.drop_nulls("speedup").with_columns(pl.col("verdict").fill_null(UNJUDGED))
        if "value" in known.columns and known["value"].n_unique() > 1:
            known = known.with_columns(stack=pl.col("stack") + ", " + pl.col("value"))
        axis = ratio_axis(known, self.tie)
        questions = known.sort(in_order("question"), maintain_order=True).group_by("question", maintain_order=True)
        return [
            ratios(f"{self.anchor}-q{number}", str(question), lines, self.tie, axis)
            for number, ((question,), lines) in enumerate(questions, 1)
        ]


def compared_sets(pairs: Sequence[SetPair], threshold: float, tie: float) -> list[Compared]:
    made = []
    for number, pair in enumerate(pairs, 1):
        found = cases(pair)
        title, data = f"{pair.second} against {pair.first}", pair_json(pair, found, threshold)
        said = answer(pair, threshold)
        made.append(Compared(f"set-{number}", title, said, [*sentences(pair)], found, data, tie, pair))
    return made


def compared_field(comparison: FieldComparison, base: str, set_id: str, tie: float) -> Compared:
    """Returns the comparison of a field's other values with its value `base`, within one set."""
    field, found = comparison.field, settings(comparison, base)
    data = {"version": VERSION, "set": set_id, "by": field, "cases": found.to_dicts()}
    return Compared(f"w-{field}", TITLES[field], EXPLAINED[field], (), found, data, tie)


def compared_revisions(analysis: Analysis, found: Sequence[Change], set_id: str, tie: float) -> Compared:
    """Returns the comparison of a set's revisions, with a sentence for each of the changes that were `found`."""
    within = by_variant(analysis)
    table = settings(within, found[0].base) if within else pl.DataFrame(schema=TYPES)
    data = {"version": VERSION, "set": set_id, "by": "variant", "cases": table.to_dicts()}
    data["changes"] = [change.to_json() for change in found]
    return Compared("w-variant", "Revisions", REVISIONS, [change.sentence for change in found], table, data, tie)


def exported(compared: Sequence[Compared]) -> Export:
    tables = [
        told(each.table or NO_CASES, each.title, [each.answer], [*each.sentences, *alone_lines(each.pair)])
        for each in compared
    ]
    tables += [
        Table(f"{each.title}: behaviour", BEHAVIOUR_HEADS, [[*astuple(moved)] for moved in each.pair.observed.moved])
        for each in compared
        if each.pair and each.pair.observed.moved
    ]
    found = pl.concat(each.cases for each in compared)
    return Export(tables, found.columns, found.rows(), [each.data for each in compared])


def cases(pair: SetPair) -> pl.DataFrame:
    """Returns a line for each case that both sets have; a speedup is its time in the first over that in the second."""
    lines = [
        {
            "first": pair.first,
            "second": pair.second,
            "question": change.name,
            "stack": change.stack,
            **dict(zip(("first_outcome", "second_outcome"), change.outcomes, strict=True)),
            **dict(zip(("first_seconds", "second_seconds"), change.seconds, strict=True)),
            **(ends("speedup", change.ratio) if change.ratio else {}),
            "verdict": change.verdict,
            "reason": change.why or change.note,
        }
        for change in pair.changes
    ]
    return pl.DataFrame(lines, schema=CASES)


def pair_json(pair: SetPair, found: pl.DataFrame, threshold: float) -> dict[str, Any]:
    """Returns the comparison of two sets for JSON, in seconds; a ratio above 1 says that the second set is faster."""
    worse = pair.regressions(threshold) if not pair.unlike else ()
    return {
        "version": VERSION,
        "first": pair.first,
        "second": pair.second,
        "unlike": list(pair.unlike),
        "differences": [each._asdict() for each in pair.differences],
        "drift": pair.drift,
        "shift": pair.shift,
        "alone": list(pair.alone),
        "threshold": threshold,
        "observed": {"common": pair.observed.common, "moved": [asdict(moved) for moved in pair.observed.moved]},
        "regressions": [f"{change.name} {change.stack}" for change in worse],
        "cases": found.drop("first", "second").to_dicts(),
    }


def answer(pair: SetPair, threshold: float) -> str:
    """Returns sentences on how many timed cases and how many observed classes changed."""
    parts = [times_answer(pair, threshold)] if pair.changes or not pair.observed.common else []
    if pair.observed.common:
        parts.append(f"{len(pair.observed.moved)} of {pair.observed.common} observed classes changed.")
    return " ".join(parts)


def times_answer(pair: SetPair, threshold: float) -> str:
    if pair.unlike:
        return f"The sets differ in {', '.join(pair.unlike)}: nothing is called faster."
    worse = len(pair.regressions(threshold))
    changed = sum(change.verdict in ("faster", "slower") for change in pair.changes)
    return (
        f"{changed} of {len(pair.changes)} cases changed; {worse} {'is' if worse == 1 else 'are'} worse by more "
        f"than {units.percent(threshold - 1)}, or no longer ok."
    )


def sentences(pair: SetPair) -> Iterator[str]:
    """Yields what a reader must know of the two runs."""
    if said := [each.text for each in pair.differences if each.words not in pair.unlike]:
        yield f"Differences, first and second set: {', '.join(said)}."
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


def alone_lines(pair: SetPair | None) -> list[str]:
    """Returns the first of the cases that only one set has, and the number of the others."""
    alone = pair.alone if pair else ()
    others = len(alone) - ALONE_SHOWN
    return [*alone[:ALONE_SHOWN], *([f"{others} more cases are in one set alone."] if others > 0 else [])]


def change_word(change: CaseChange) -> str:
    """Returns the verdict of a case. Without one, returns the outcomes in both sets if a time is missing, else a
    dash."""
    lacks_time = None in change.seconds
    return change.verdict or (" → ".join(change.outcomes) if lacks_time else units.UNKNOWN)
