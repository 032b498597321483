"""What `./stackwars compare` shows: further sets compared with a first one, or the values of a field within one set.

suite/results/between_sets.py and within_set.py compute the numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, astuple, dataclass, replace
from typing import Any

from suite import units
from suite.answers.figures.axes import Plot
from suite.answers.figures.plots import forest, ratio_axis
from suite.report.map.change_map import change_map, moved_cases
from suite.report.map.page_map import Map
from suite.report.sections.timed.within_set import FieldView, field_json, field_table, field_view
from suite.report.tables import VERSION, Export, Table, Value
from suite.results.between_sets import CaseChange, SetPair
from suite.results.questions.behaviour import ChangedClass
from suite.results.stack_columns import estimate_json
from suite.results.within_set import FieldComparison
from suite.stats import Estimate

HEADS = ("question", "stack", "before", "after", "speedup", "verdict")
COLUMNS = (
    "first",
    "second",
    "question",
    "stack",
    "first_outcome",
    "second_outcome",
    "first_seconds",
    "second_seconds",
    "speedup",
    "speedup_low",
    "speedup_high",
    "verdict",
    "reason",
)
FIELD_COLUMNS = (
    "question",
    "stack",
    "by",
    "value",
    "baseline",
    "speedup",
    "speedup_low",
    "speedup_high",
    "verdict",
    "reason",
)
BEHAVIOUR_HEADS = ("probe", "aspect", "stack", "before", "after")
UNJUDGED = "unjudged"  # kind of a ratio without a verdict, since the machines or settings of the two sets differ
ALONE_SHOWN = 10  # so many of the cases that only one set has are listed; the others are counted


@dataclass(frozen=True, slots=True)
class Compared:
    """One comparison on the page: a further set with the first, or the values of a field within one set.

    Both have a title, the answer, further sentences and a plot for each question. Only a comparison of a field's values
    has `within_set`. Only a comparison of two sets has the others: `alone` names the cases that one set lacks,
    `changes` are the cases that both have, `map` is their map, `moved` are the observed classes that changed, and
    `moved_cases` the cases that became faster or slower or ended with another outcome, the greatest change first.
    """

    anchor: str
    title: str
    answer: str
    sentences: tuple[str, ...]
    alone: tuple[str, ...]
    plots: tuple[Plot, ...]
    unit: units.Unit
    changes: tuple[CaseChange, ...] = ()
    moved: tuple[ChangedClass, ...] = ()
    within_set: FieldView | None = None
    map: Map | None = None
    moved_cases: tuple[CaseChange, ...] = ()


def compared_sets(pairs: Sequence[SetPair], threshold: float, tie: float) -> list[Compared]:
    """Returns the comparison of each further set with the first."""
    return [
        Compared(
            anchor=f"set-{number}",
            title=f"{pair.second} against {pair.first}",
            answer=answer(pair, threshold),
            sentences=tuple(sentences(pair)),
            alone=pair.alone,
            plots=plots(
                f"set-{number}",
                ((change.name, change.stack, change.ratio, change.verdict) for change in pair.changes),
                tie,
            ),
            unit=units.time_unit(seconds for change in pair.changes for seconds in change.seconds),
            changes=pair.changes,
            moved=pair.observed.moved,
            map=change_map(f"set-{number}", pair),
            moved_cases=moved_cases(pair),
        )
        for number, pair in enumerate(pairs, 1)
    ]


def compared_field(comparison: FieldComparison, base: str, tie: float) -> Compared:
    """Returns the comparison of a field's other values with its value `base`, within one set."""
    view = field_view(comparison, base)
    entries = (
        (
            line.question,
            f"{line.stack}, {line.speedup.stack}" if len(comparison.values) > 2 else line.stack,
            line.speedup.ratio,
            line.speedup.verdict,
        )
        for line in view.lines
    )
    reasons = {
        f"{line.question}, {line.stack}: {line.speedup.reason}": None for line in view.lines if line.speedup.reason
    }
    return Compared(
        anchor=view.anchor,
        title=view.title,
        answer=view.explained,
        sentences=tuple(reasons),
        alone=(),
        plots=plots(view.anchor, entries, tie),
        unit=units.Unit("s", 1.0),
        within_set=view,
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
        Table(
            comparison.title,
            HEADS,
            [*map(change_line, comparison.changes)],
            numbers=HEADS[2:5],
            before=[comparison.answer],
            after=[*comparison.sentences, *alone_lines(comparison.alone)],
        )
        for comparison in compared
    ]
    tables += [
        Table(f"{comparison.title}: behaviour", BEHAVIOUR_HEADS, [[*astuple(moved)] for moved in comparison.moved])
        for comparison in compared
        if comparison.moved
    ]
    lines = [change_cells(pair, change) for pair in pairs for change in pair.changes]
    return Export(tables, COLUMNS, lines, [pair_json(pair, threshold) for pair in pairs])


def export_field(comparison: FieldComparison, base: str, set_id: str, tie: float) -> Export:
    """Returns the comparison of a field's values within one set, for every format."""
    view, compared = field_view(comparison, base), compared_field(comparison, base, tie)
    lines: list[list[Value]] = [
        [
            line.question,
            line.stack,
            comparison.field,
            line.speedup.stack,
            base,
            line.speedup.ratio.value,
            line.speedup.ratio.low,
            line.speedup.ratio.high,
            line.speedup.verdict,
            line.speedup.reason,
        ]
        for line in view.lines
    ]
    table = replace(field_table(view), before=[compared.answer], after=compared.sentences)
    return Export([table], FIELD_COLUMNS, lines, [{"version": VERSION, "set": set_id} | field_json(view)])


def alone_lines(alone: Sequence[str]) -> list[str]:
    """Returns the first of the cases that only one set has, and the number of the others."""
    others = len(alone) - ALONE_SHOWN
    return [*alone[:ALONE_SHOWN], *([f"{others} more cases are in one set alone."] if others > 0 else [])]


def change_line(change: CaseChange) -> list[str]:
    """Returns the line of one case in a table."""
    before, after = (units.UNKNOWN if seconds is None else units.seconds(seconds) for seconds in change.seconds)
    return [change.name, change.stack, before, after, ratio_text(change.ratio), change_word(change)]


def change_word(change: CaseChange) -> str:
    """Returns the verdict of a case. Without one, returns the outcomes in both sets if a time is missing, else a
    dash."""
    lacks_time = None in change.seconds
    return change.verdict or (" → ".join(change.outcomes) if lacks_time else units.UNKNOWN)


def ratio_text(ratio: Estimate | None) -> str:
    """Returns `1.42× [1.35, 1.50]`."""
    return units.estimate(ratio.value, ratio.low, ratio.high) if ratio else units.UNKNOWN


def change_cells(pair: SetPair, change: CaseChange) -> list[Value]:
    """Returns the line of one case in CSV."""
    ratio = change.ratio
    return [
        pair.first,
        pair.second,
        change.name,
        change.stack,
        *change.outcomes,
        *change.seconds,
        *((ratio.value, ratio.low, ratio.high) if ratio else (None, None, None)),
        change.verdict,
        change.reason,
    ]


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
        "cases": [
            {
                "question": change.name,
                "stack": change.stack,
                "outcomes": list(change.outcomes),
                "seconds": list(change.seconds),
                "verdict": change.verdict,
                "reason": change.reason,
                "ratio": estimate_json(change.ratio),
            }
            for change in pair.changes
        ],
    }
