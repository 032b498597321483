"""Searches for the first slower release of a framework: the next release to try, and what is known so far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from suite.plan.search.bracket import Bracket


class ReleaseVerdict(StrEnum):
    """The verdict on a release, compared with the good one."""

    SLOWER = "slower"
    NOT_SLOWER = "not slower"
    UNDECIDED = "undecided"  # even after all the blocks that a comparison may take
    SKIPPED = "skipped"  # can't be installed, or has no time


@dataclass(slots=True)
class Bisection:
    """A search among `releases`, from the good to the bad one, oldest first; `verdicts` are those so far."""

    releases: Sequence[str]
    verdicts: dict[str, ReleaseVerdict] = field(default_factory=dict)

    def next(self) -> str | None:
        """Returns the release to try: the bad one first, then the untried one nearest to the middle of `between`; None
        if none is left."""
        if self.releases[-1] not in self.verdicts:
            return self.releases[-1]
        low, high = self.bracket.low, self.bracket.high
        rest = [release for release in self.between if release not in self.verdicts]
        if high is None or not rest:
            return None
        return min(rest, key=lambda release: abs(2 * self.releases.index(release) - low - high))

    @property
    def bracket(self) -> Bracket:
        """Returns the indices in `releases` of the newest release that is known not to be slower, and of the oldest
        that is known to be slower. The first release counts as not slower. Both are unknown until the last one was
        found to be slower."""
        if self.verdicts.get(self.releases[-1]) is not ReleaseVerdict.SLOWER:
            return Bracket()
        verdicts = enumerate(map(self.verdicts.get, self.releases))
        decided = (ReleaseVerdict.NOT_SLOWER, ReleaseVerdict.SLOWER)
        return Bracket.of({place: verdict is decided[0] for place, verdict in verdicts if verdict in decided})

    @property
    def slower(self) -> str | None:
        """Returns the oldest release that is known to be slower; None if the bad one isn't."""
        high = self.bracket.high
        return None if high is None else self.releases[high]

    @property
    def not_slower(self) -> str:
        """Returns the newest release before `slower` that is known not to be slower; at first the good one."""
        return self.releases[self.bracket.low]

    @property
    def between(self) -> list[str]:
        """Returns the releases after `not_slower` and before `slower`, of which nothing is known."""
        low, high = self.bracket.low, self.bracket.high
        return [] if high is None else [*self.releases[low + 1 : high]]
