"""What holds memory at a step's peak, according to a framework's profiler, a compiler's plan or a log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

LARGEST = 10  # holders that are listed one by one


@dataclass(frozen=True, slots=True)
class Holder:
    """One allocation: the kind of tensor, its name and its size."""

    category: str
    name: str
    nbytes: int


@dataclass(frozen=True, slots=True)
class Holders:
    """All that was held at the peak, and the tool that recorded it."""

    recorded_by: str
    all: tuple[Holder, ...]

    def to_json(self) -> dict[str, Any]:
        of_category: Counter[str] = Counter()
        for holder in self.all:
            of_category[holder.category] += holder.nbytes
        largest = sorted(self.all, key=lambda holder: (-holder.nbytes, holder.name))[:LARGEST]
        return {
            "told_by": self.recorded_by,
            "categories": dict(of_category.most_common()),
            "largest": [
                {"category": holder.category, "name": holder.name, "bytes": holder.nbytes} for holder in largest
            ],
        }


@dataclass(frozen=True, slots=True)
class MemoryEvent:
    """An allocation of the memory that `key` names; the release of that memory if `holder` is None."""

    key: int
    holder: Holder | None


def at_peak(before: Mapping[int, Holder], events: Iterable[MemoryEvent]) -> tuple[Holder, ...]:
    """Returns what is held at the peak, from what was held before and the events in order. Releasing memory that was
    neither held before nor allocated by an event changes nothing."""
    live, total = dict(before), sum(holder.nbytes for holder in before.values())
    most, peak = total, dict(live)
    for event in events:
        released = live.pop(event.key, None)
        total -= released.nbytes if released else 0
        if event.holder is not None:
            live[event.key] = event.holder
            total += event.holder.nbytes
        if total > most:
            most, peak = total, dict(live)
    return tuple(peak.values())
