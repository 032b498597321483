"""The map of two sets, with the cells of a set's own map: each is a case's time in the first set over that in the
second."""

from __future__ import annotations

import math

from suite import units
from suite.case import OUT_OF_MEMORY, Outcome
from suite.report.map.cells import Square, shade
from suite.report.map.page_map import Map, MapRow
from suite.results.between_sets import CaseChange, SetPair
from suite.results.outcomes import WORDS
from suite.results.ranking import catalogue_order


def change_map(anchor: str, pair: SetPair) -> Map | None:
    """Returns the map of two sets, questions down, stacks across; None without a timed case that both have."""
    if not pair.changes:
        return None
    cells = {(change.name, change.stack): change for change in pair.changes}
    stacks = tuple(sorted({stack for _, stack in cells}, key=catalogue_order))
    return Map(
        caption=f"Times in {pair.first} divided by times in {pair.second}, stack by stack: above 1× is faster now.",
        columns=stacks,
        means=(),
        rows=tuple(
            MapRow(name, f"{anchor}-cases", tuple(change_square(cells.get((name, stack))) for stack in stacks))
            for name in sorted({name for name, _ in cells})
        ),
    )


def change_square(change: CaseChange | None) -> Square:
    """Returns the cell of a case in two sets; None is a case that isn't in both."""
    if change is None:
        return Square("unplanned", "")
    where = f"{change.stack} on {change.name}"
    if change.ratio is None or ended_otherwise(change):
        return ended_square(change, where)
    size, interval = (
        units.ratio(change.ratio.value, change.ratio.low, change.ratio.high),
        units.interval(change.ratio.low, change.ratio.high),
    )
    if change.verdict is None:
        return Square("measured", size, interval, f"{where}: {size} {interval}".strip())
    aside = f" ({change.note})" if change.note else ""
    title = f"{where}: {change.verdict}, {size} {interval}".strip() + aside
    if change.verdict == "undecided":
        return Square("undecided", "undecided", f"{size} {interval}".strip(), title, note=change.note)
    return Square(
        change.verdict, size, interval, title, shade(change.ratio.value), change.ratio.value > 1, note=change.note
    )


def ended_square(change: CaseChange, where: str) -> Square:
    """Returns the cell of a case whose outcomes differ, or which has no times to compare: its outcomes in words."""
    outcomes = [WORDS.get(outcome, outcome) for outcome in dict.fromkeys(change.outcomes)]
    last, words = change.outcomes[1], " → ".join(outcomes)
    if last == Outcome.OK:
        return Square("none", words if ended_otherwise(change) else units.UNKNOWN, title=f"{where}: {words}")
    kind = "memory" if last in OUT_OF_MEMORY else "wrong" if last == Outcome.WRONG else "failed"
    return Square("unable" if last == Outcome.UNSUPPORTED else kind, words, title=f"{where}: {words}")


def ended_otherwise(change: CaseChange) -> bool:
    """Whether a case has another outcome in the second set than in the first."""
    return change.outcomes[0] != change.outcomes[1]


def moved_cases(pair: SetPair) -> tuple[CaseChange, ...]:
    """Returns the cases that moved: first those that ended otherwise, then those that became faster or slower, the
    greatest change first."""
    moved = [change for change in pair.changes if ended_otherwise(change) or change.verdict in ("faster", "slower")]
    return tuple(sorted(moved, key=moved_by, reverse=True))


def moved_by(change: CaseChange) -> float:
    """Returns how far a case moved: the size of its log ratio; infinite where it ended otherwise."""
    if change.ratio is None or ended_otherwise(change):
        return math.inf
    return abs(math.log(change.ratio.value))
