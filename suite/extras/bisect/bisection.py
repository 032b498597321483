"""Searches for the first slower release of a framework: the next release to try, and what is known so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum

from suite.plan.search.bracket import Bracket


class ReleaseVerdict(StrEnum):
    """The verdict on a release, compared with the good one."""

    SLOWER = "slower"
    NOT_SLOWER = "not slower"
    UNDECIDED = "undecided"  # even after all the blocks that a comparison may take
    SKIPPED = "skipped"  # can't be installed, or has no time


def bracket(releases: Sequence[str], verdicts: Mapping[str, ReleaseVerdict]) -> Bracket:
    """Returns the indices in `releases`, from the good to the bad one, of the newest that is known not to be slower and
    of the oldest that is known to be. The first release counts as not slower. Nothing is known before the last one was
    found to be slower."""
    if verdicts.get(releases[-1]) is not ReleaseVerdict.SLOWER:
        return Bracket()
    known = {index: verdicts.get(release) for index, release in enumerate(releases)}
    decided = (ReleaseVerdict.NOT_SLOWER, ReleaseVerdict.SLOWER)
    return Bracket.of({index: verdict is decided[0] for index, verdict in known.items() if verdict in decided})


def next_release(releases: Sequence[str], verdicts: Mapping[str, ReleaseVerdict]) -> str | None:
    """Returns the release to try: the bad one first, then the untried one nearest to the middle of the bracket; None if
    none is left."""
    if releases[-1] not in verdicts:
        return releases[-1]
    found = bracket(releases, verdicts)
    low, high = found.low, found.high or 0
    rest = [index for index in range(low + 1, high) if releases[index] not in verdicts]
    return releases[min(rest, key=lambda index: abs(2 * index - low - high))] if rest else None
