"""Which release of a framework was the first slower one: the next to try, and what is known so far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum


class Finding(StrEnum):
    """What a release turned out to be, against the good one."""

    SLOWER = "slower"
    NOT_SLOWER = "not slower"
    UNDECIDED = "undecided"  # after all the blocks that it may take
    SKIPPED = "skipped"  # can't be installed, or has no time


@dataclass(slots=True)
class Bisection:
    """`releases` from the good to the bad one, oldest first; what was `found` of each. The good one is what the others
    are held against."""

    releases: Sequence[str]
    found: dict[str, Finding] = field(default_factory=dict)

    def next(self) -> str | None:
        """The release to try: the bad one first, then the middle of what is open; None where nothing is left to try."""
        if self.releases[-1] not in self.found:
            return self.releases[-1]
        if self.slower is None:
            return None
        low, high = self.releases.index(self.not_slower), self.releases.index(self.slower)
        rest = [index for index in range(low + 1, high) if self.releases[index] not in self.found]
        return self.releases[min(rest, key=lambda index: abs(2 * index - low - high))] if rest else None

    @property
    def slower(self) -> str | None:
        """The oldest release that is known to be slower; None where the bad one isn't."""
        if self.found.get(self.releases[-1]) is not Finding.SLOWER:
            return None
        return next(each for each in self.releases if self.found.get(each) is Finding.SLOWER)

    @property
    def not_slower(self) -> str:
        """The newest release before that one which is known not to be; at first the good one."""
        before = self.releases[: self.releases.index(self.slower)] if self.slower else self.releases
        return next((each for each in reversed(before) if self.found.get(each) is Finding.NOT_SLOWER), self.releases[0])

    @property
    def between(self) -> list[str]:
        """Releases of which nothing is known, after the last that isn't slower and before the first that is."""
        if self.slower is None:
            return []
        return [*self.releases[self.releases.index(self.not_slower) + 1 : self.releases.index(self.slower)]]
