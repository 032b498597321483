"""Sets held against each other, or the two ways in which one has asked: what the page, a table and a program are told.

The numbers are those of suite/results/between_sets.py and ways.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, astuple, dataclass, replace
from typing import Any

from suite import units
from suite.report.figures.axes import Plot
from suite.report.figures.comparison import forest, ratio_axis
from suite.report.formats.document import VERSION, estimate_json, ways_json
from suite.report.formats.tables import Table, Told, Value
from suite.report.sections.within_set import WaysSection, table_of, ways_section
from suite.results.between_sets import Across, CaseChange
from suite.results.questions.behaviour import Moved
from suite.results.within_set import Ways
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
OF_WAYS = (
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
OF_CLASSES = ("probe", "aspect", "stack", "before", "after")
UNJUDGED = "unjudged"  # a ratio of unlike machines
ALONE_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Compared:
    """Two sets, or one in two ways: a title, the sentences, a figure a question, and the lines of one table."""

    anchor: str
    title: str
    answer: str
    sentences: tuple[str, ...]
    alone: tuple[str, ...]
    plots: tuple[Plot, ...]
    unit: units.Unit
    changes: tuple[CaseChange, ...] = ()
    moved: tuple[Moved, ...] = ()
    ways: WaysSection | None = None


def of_sets(found: Sequence[Across], threshold: float, tie: float) -> list[Compared]:
    """Every further set against the first."""
    return [
        Compared(
            anchor=f"set-{number}",
            title=f"{each.second} against {each.first}",
            answer=answer(each, threshold),
            sentences=tuple(sentences(each)),
            alone=each.alone,
            plots=plots(
                f"set-{number}",
                ((change.name, change.stack, change.ratio, change.verdict) for change in each.changes),
                tie,
            ),
            unit=units.time_unit(seconds for change in each.changes for seconds in change.seconds),
            changes=each.changes,
            moved=each.observed.moved,
        )
        for number, each in enumerate(found, 1)
    ]


def of_ways(ways: Ways, base: str, tie: float) -> Compared:
    """One set, over one value of a field."""
    section = ways_section(ways, base)
    entries = (
        (
            each.question,
            f"{each.stack}, {each.speedup.stack}" if len(ways.values) > 2 else each.stack,
            each.speedup.ratio,
            each.speedup.verdict,
        )
        for each in section.lines
    )
    reasons = {
        f"{each.question}, {each.stack}: {each.speedup.reason}": None for each in section.lines if each.speedup.reason
    }
    return Compared(
        section.anchor,
        section.title,
        section.said,
        tuple(reasons),
        (),
        plots(section.anchor, entries, tie),
        units.Unit("s", 1.0),
        ways=section,
    )


def plots(anchor: str, entries: Iterable[tuple[str, str, Estimate | None, str | None]], tie: float) -> tuple[Plot, ...]:
    """A figure a question, all on one axis; nothing for a case without a ratio."""
    drawn: dict[str, list[tuple[str, Estimate, str]]] = {}
    for question, stack, ratio, verdict in entries:
        if ratio:
            drawn.setdefault(question, []).append((stack, ratio, verdict or UNJUDGED))
    axis = ratio_axis((ratio for lines in drawn.values() for _, ratio, _ in lines), tie)
    return tuple(
        forest(f"{anchor}-q{number}", question, lines, tie, axis)
        for number, (question, lines) in enumerate(sorted(drawn.items()), 1)
    )


def answer(found: Across, threshold: float) -> str:
    """How many cases changed, and how many observed classes."""
    parts = [of_times(found, threshold)] if found.changes or not found.observed.common else []
    if found.observed.common:
        parts.append(f"{len(found.observed.moved)} of {found.observed.common} observed classes changed.")
    return " ".join(parts)


def of_times(found: Across, threshold: float) -> str:
    """How many timed cases changed."""
    if found.unlike:
        return f"The sets differ in {', '.join(found.unlike)}: nothing is called faster."
    worse = len(found.regressions(threshold))
    called = sum(each.verdict in ("faster", "slower") for each in found.changes)
    return (
        f"{called} of {len(found.changes)} cases changed; {worse} {'is' if worse == 1 else 'are'} worse by more "
        f"than {units.percent(threshold - 1)}, or no longer ok."
    )


def sentences(found: Across) -> Iterable[str]:
    """What a reader must know of the two runs."""
    if found.versions:
        yield f"Versions that differ, first and second set: {', '.join(found.versions)}."
    if found.drift is not None:
        yield (
            f"The machine: its f32 ceilings in the two runs differ by {units.percent(found.drift - 1)}; less than "
            "that is no change."
        )
    if found.shift is not None:
        yield (
            f"The middle of all ratios is {units.ratio(found.shift)}: what all cases share, the machine's state "
            "among it, can't be told from a change of all."
        )


def told_sets(found: Sequence[Across], threshold: float, tie: float) -> Told:
    """The same as tables and data."""
    tables = [
        Table(
            each.title,
            HEADS,
            [*map(change_line, each.changes)],
            numbers=HEADS[2:5],
            before=[each.answer],
            after=[*each.sentences, *shown(each.alone)],
        )
        for each in of_sets(found, threshold, tie)
    ]
    tables += [
        Table(f"{each.title}: behaviour", OF_CLASSES, [[*astuple(move)] for move in each.moved])
        for each in of_sets(found, threshold, tie)
        if each.moved
    ]
    lines = [change_cells(each, change) for each in found for change in each.changes]
    return Told(tables, COLUMNS, lines, [across_json(each, threshold) for each in found])


def told_ways(ways: Ways, base: str, set_id: str, tie: float) -> Told:
    """The same of one set."""
    compared = of_ways(ways, base, tie)
    lines: list[list[Value]] = [
        [
            each.question,
            each.stack,
            ways.field,
            each.speedup.stack,
            base,
            each.speedup.ratio.value,
            each.speedup.ratio.low,
            each.speedup.ratio.high,
            each.speedup.verdict,
            each.speedup.reason,
        ]
        for each in ways.over(base)
    ]
    table = replace(
        table_of(ways_section(ways, base)), title=compared.title, before=[compared.answer], after=compared.sentences
    )
    return Told([table], OF_WAYS, lines, [{"version": VERSION, "set": set_id} | ways_json(ways, base)])


def shown(alone: Sequence[str]) -> list[str]:
    """The first of those that only one set has; the others are counted."""
    left = len(alone) - ALONE_SHOWN
    return [*alone[:ALONE_SHOWN], *([f"{left} more cases are in one set alone."] if left > 0 else [])]


def change_line(change: CaseChange) -> list[str]:
    """One case, for people."""
    before, after = (units.UNKNOWN if seconds is None else units.seconds(seconds) for seconds in change.seconds)
    return [change.name, change.stack, before, after, ratio_text(change.ratio), change_word(change)]


def change_word(change: CaseChange) -> str:
    """The verdict; where there are no two times, what became of it."""
    ended = None in change.seconds
    return change.verdict or (" → ".join(change.outcomes) if ended else units.UNKNOWN)


def ratio_text(ratio: Estimate | None) -> str:
    """`1.42× [1.35, 1.50]`."""
    return units.estimate(ratio.value, ratio.low, ratio.high) if ratio else units.UNKNOWN


def change_cells(found: Across, change: CaseChange) -> list[Value]:
    """One case, for a spreadsheet."""
    ratio = change.ratio
    return [
        found.first,
        found.second,
        change.name,
        change.stack,
        *change.outcomes,
        *change.seconds,
        *((ratio.value, ratio.low, ratio.high) if ratio else (None, None, None)),
        change.verdict,
        change.reason,
    ]


def across_json(found: Across, threshold: float) -> dict[str, Any]:
    """Two sets; seconds, and ratios of times, above 1 where the second set is faster."""
    worse = found.regressions(threshold) if not found.unlike else ()
    return {
        "version": VERSION,
        "first": found.first,
        "second": found.second,
        "unlike": list(found.unlike),
        "versions": list(found.versions),
        "drift": found.drift,
        "shift": found.shift,
        "alone": list(found.alone),
        "threshold": threshold,
        "observed": {"common": found.observed.common, "moved": [asdict(each) for each in found.observed.moved]},
        "regressions": [f"{each.name} {each.stack}" for each in worse],
        "cases": [
            {
                "question": each.name,
                "stack": each.stack,
                "outcomes": list(each.outcomes),
                "seconds": list(each.seconds),
                "verdict": each.verdict,
                "reason": each.reason,
                "ratio": estimate_json(each.ratio),
            }
            for each in found.changes
        ],
    }
