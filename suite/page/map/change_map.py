"""The map of two sets, with the cells of a set's own map: each is a case's time in the first set over that in the
second."""

from __future__ import annotations

import math
from dataclasses import replace

from suite import units
from suite.case import OUT_OF_MEMORY, Outcome
from suite.order import natural
from suite.page.map.cells import NOTHING, Square, ratio_square
from suite.page.map.page_map import Map, MapRow
from suite.results.between_sets import CaseChange, SetPair
from suite.results.outcomes import WORDS
from suite.results.ranking import catalogue_order


def change_map(anchor: str, pair: SetPair) -> Map | None:
    """Returns the map of two sets, questions down, stacks across; None without a timed case that both have."""
    if not pair.changes:
        return None
    cells = {(change.name, change.stack): change_square(change) for change in pair.changes}
    stacks = tuple(sorted({stack for _, stack in cells}, key=catalogue_order))
    return Map(
        caption=f"Times in {pair.first} divided by times in {pair.second}, stack by stack: above 1× is faster now.",
        columns=stacks,
        rows=tuple(
            MapRow(name, f"{anchor}-cases", tuple(cells.get((name, stack), NOTHING) for stack in stacks))
            for name in sorted({name for name, _ in cells}, key=natural)
        ),
    )


def change_square(change: CaseChange) -> Square:
    if change.ratio is None or ended_otherwise(change):
        shown = ended_square(change)
    elif change.verdict is None:
        size = units.ratio(change.ratio.value, change.ratio.low, change.ratio.high)
        interval = units.interval(change.ratio.low, change.ratio.high)
        shown = Square("measured", size, interval, f"{size} {interval}".strip())
    else:
        shown = ratio_square(change.ratio, change.verdict, note=change.note)
    return replace(shown, title=f"{change.stack} on {change.name}: {shown.title}")


def ended_square(change: CaseChange) -> Square:
    """Returns the cell of a case whose outcomes differ, or which has no times to compare: its outcomes in words."""
    last, words = change.outcomes[1], " → ".join(WORDS.get(each, each) for each in dict.fromkeys(change.outcomes))
    if last == Outcome.OK:
        return Square("none", words if ended_otherwise(change) else units.UNKNOWN, title=words)
    kinds: dict[str, str] = {
        Outcome.WRONG: "wrong",
        Outcome.UNSUPPORTED: "unable",
        **dict.fromkeys(OUT_OF_MEMORY, "memory"),
    }
    return Square(kinds.get(last, "failed"), words, title=words)


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
