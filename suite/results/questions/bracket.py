"""The range in which a limit lies, by the values that were tried: the largest that holds, the smallest that doesn't."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Bracket:
    """`low` is the largest value that is known to hold, 0 if none is; `high` the smallest that is known not to hold,
    None if none is."""

    low: int = 0
    high: int | None = None

    @classmethod
    def of(cls, holds: Mapping[int, bool]) -> Bracket:
        """Returns the bracket of the values that were tried, {value: whether it holds}."""
        return cls(
            max((value for value, held in holds.items() if held), default=0),
            min((value for value, held in holds.items() if not held), default=None),
        )

    def is_closed(self, tolerance: float = 0.0) -> bool:
        """Whether no value is left to try: `high` is `low` + 1, or above `low` by at most the share `tolerance`."""
        return self.high is not None and self.high - self.low <= max(1, tolerance * self.low)
