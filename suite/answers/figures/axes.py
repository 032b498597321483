"""The axes of figures: where a value lies, in percent of the plot, and which values are written beside it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from suite.units import Unit, short

MARGIN = 0.03  # share of the axis left free at each end
MOST_LOG, MOST_LINEAR = 5, 6  # ticks
LOG_STEPS = ((1, 1.5, 2, 3, 5, 7), (1, 2, 5), (1, 3), (1,))  # in each decade, the densest first
FINE = (1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.8, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8, 9)  # on an axis of less than a decade
DATES_MAX = 8  # of the names of places are written

PLAIN = Unit("", 1.0)


@dataclass(frozen=True, slots=True)
class Tick:
    """A labelled line across the plot, at `x` percent."""

    x: float
    label: str


def clipped(share: float) -> float:
    """Returns a share of the axis in percent, inside the plot, rounded so that equal reports are equal bytes."""
    return round(100 * min(max(share, 0.0), 1.0), 2)


@dataclass(frozen=True, slots=True)
class LogAxis:
    """A logarithmic axis over [low, high] (both positive) with ticks at 1, 2 and 5 times powers of ten."""

    low: float
    high: float

    @classmethod
    def over(cls, values: Iterable[float], *, least_span: float = 1.5) -> LogAxis:
        """Returns the axis that holds every positive value, and spans at least a factor of `least_span`."""
        logs = [math.log(v) for v in values if v > 0 and math.isfinite(v)] or [0.0]
        low, high = min(logs), max(logs)
        missing = max(0.0, math.log(least_span) - (high - low)) / 2
        pad = max(high - low, math.log(least_span)) * MARGIN
        return cls(math.exp(low - missing - pad), math.exp(high + missing + pad))

    def percent(self, value: float) -> float:
        return clipped(math.log(value / self.low) / math.log(self.high / self.low) if value > 0 else 0.0)

    def ticks(self, unit: Unit = PLAIN, words: Callable[[float], str] | None = None) -> tuple[Tick, ...]:
        """Returns two to `MOST_LOG` ticks inside the axis, at round values if possible, labelled in `unit` or by
        `words`."""
        low, high = self.low / unit.size, self.high / unit.size
        decades = range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 1)

        def inside(steps: Sequence[float]) -> list[float]:
            return [step * 10.0**decade for decade in decades for step in steps if low <= step * 10.0**decade <= high]

        chosen = inside(FINE)
        for steps in LOG_STEPS:
            if len(values := inside(steps)) >= 3:
                chosen = values
            if 2 <= len(chosen) <= MOST_LOG:
                break
        chosen = chosen[:: max(1, math.ceil(len(chosen) / MOST_LOG))]
        if len(chosen) < 2:
            chosen = [low * (high / low) ** share for share in (0.1, 0.9)]
        shown = words or (lambda value: unit.show(value, short))
        return tuple(Tick(self.percent(v * unit.size), shown(v * unit.size)) for v in chosen)


@dataclass(frozen=True, slots=True)
class LinearAxis:
    """An axis from zero to `high`, with round ticks."""

    high: float

    @classmethod
    def over(cls, values: Iterable[float]) -> LinearAxis:
        return cls((max(values, default=0.0) or 1.0) * (1 + MARGIN))

    def percent(self, value: float) -> float:
        return clipped(value / self.high)

    def ticks(self, unit: Unit = PLAIN) -> tuple[Tick, ...]:
        """Returns a tick at zero and up to `MOST_LINEAR` above it, at multiples of 1, 2 or 5 times a power of ten."""
        high = self.high / unit.size
        rough = high / MOST_LINEAR
        decade = 10.0 ** math.floor(math.log10(rough))
        step = next(m * decade for m in (1, 2, 5, 10) if m * decade >= rough)
        return tuple(Tick(self.percent(k * step * unit.size), short(k * step)) for k in range(int(high / step) + 1))


@dataclass(frozen=True, slots=True)
class Places:
    """An axis of equally wide places with `names`, from left to right; the first is 0."""

    names: Sequence[Any]

    def percent(self, place: float) -> float:
        """Returns where the middle of a place lies; half a place before it is its left end."""
        return clipped((place + 0.5) / len(self.names))

    def ticks(self) -> tuple[Tick, ...]:
        """Returns the names: all if they are few, else at most `DATES_MAX`, evenly spaced. A name that several places
        in a row have is written once."""
        step = -(-len(self.names) // DATES_MAX)
        ticks = [Tick(self.percent(place), str(name)) for place, name in enumerate(self.names) if place % step == 0]
        return tuple(tick for place, tick in enumerate(ticks) if place == 0 or tick.label != ticks[place - 1].label)


Axis = LogAxis | LinearAxis | Places
