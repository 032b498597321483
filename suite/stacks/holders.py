"""What holds a step's memory at its peak, by whoever can tell: a framework's profiler, a compiler's plan, a log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

LARGEST = 10  # that are told one by one


@dataclass(frozen=True, slots=True)
class Holder:
    """One allocation: what kind of tensor it is, which one, its size."""

    category: str
    name: str
    nbytes: int


@dataclass(frozen=True, slots=True)
class Holders:
    """All that was held at the peak, and who says so."""

    told_by: str
    all: tuple[Holder, ...]

    def to_json(self) -> dict[str, Any]:
        """Bytes by category, most first, and the largest holders."""
        of_category: Counter[str] = Counter()
        for holder in self.all:
            of_category[holder.category] += holder.nbytes
        largest = sorted(self.all, key=lambda holder: (-holder.nbytes, holder.name))[:LARGEST]
        return {
            "told_by": self.told_by,
            "categories": dict(of_category.most_common()),
            "largest": [{"category": each.category, "name": each.name, "bytes": each.nbytes} for each in largest],
        }


@dataclass(frozen=True, slots=True)
class Change:
    """An allocation, or with `holder` None a release, of the memory that `key` names."""

    key: int
    holder: Holder | None


def at_peak(before: Mapping[int, Holder], changes: Iterable[Change]) -> tuple[Holder, ...]:
    """What is held when most is, from what was held before and what changed, in order. A release of something that
    nobody told of changes nothing."""
    live, total = dict(before), sum(holder.nbytes for holder in before.values())
    most, peak = total, dict(live)
    for change in changes:
        gone = live.pop(change.key, None)
        total -= gone.nbytes if gone else 0
        if change.holder is not None:
            live[change.key] = change.holder
            total += change.holder.nbytes
        if total > most:
            most, peak = total, dict(live)
    return tuple(peak.values())
