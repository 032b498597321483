"""The axes and rows of a figure: values become percent of the plot's width, and a template draws them.

Positions are percentages, so that a figure fits a phone and a wide screen with text of one size.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from suite.units import Unit, short

ROW_HEIGHT = 26  # pixels
MARGIN = 0.03  # share of the axis left free at each end


@dataclass(frozen=True, slots=True)
class Tick:
    """A labelled line across the plot, at `x` percent."""

    x: float
    label: str


@dataclass(frozen=True, slots=True)
class LogAxis:
    """A logarithmic axis over [low, high] (both positive) with ticks at 1, 2 and 5 times powers of ten."""

    low: float
    high: float

    @classmethod
    def over(cls, values: Sequence[float], *, least_span: float = 1.5) -> LogAxis:
        """Returns the axis that holds every positive value, and spans at least a factor of `least_span`."""
        logs = [math.log(v) for v in values if v > 0 and math.isfinite(v)] or [0.0]
        low, high = min(logs), max(logs)
        missing = max(0.0, math.log(least_span) - (high - low)) / 2
        pad = max(high - low, math.log(least_span)) * MARGIN
        return cls(math.exp(low - missing - pad), math.exp(high + missing + pad))

    def percent(self, value: float) -> float:
        """Returns the place of a value in percent of the axis, clipped to the plot, rounded so that equal reports are
        equal bytes."""
        share = math.log(value / self.low) / math.log(self.high / self.low) if value > 0 else 0.0
        return round(100 * min(max(share, 0.0), 1.0), 2)

    def ticks(
        self, unit: Unit | None = None, most: int = 5, suffix: str = "", words: Callable[[float], str] | None = None
    ) -> tuple[Tick, ...]:
        """Returns two to `most` ticks inside the axis, at round values if possible, labelled in `unit` or by
        `words`."""
        size = unit.size if unit else 1.0
        low, high = self.low / size, self.high / size
        decades = range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 1)
        fine = (1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.8, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8, 9)
        choices: list[tuple[float, ...]] = [(1, 1.5, 2, 3, 5, 7), (1, 2, 5), (1, 3), (1,)]
        chosen = [m * 10.0**d for d in decades for m in fine if low <= m * 10.0**d <= high]
        for steps in choices:
            values = [m * 10.0**d for d in decades for m in steps if low <= m * 10.0**d <= high]
            if len(values) >= 3:
                chosen = values
            if 2 <= len(chosen) <= most:
                break
        if len(chosen) > most:
            chosen = chosen[:: math.ceil(len(chosen) / most)]
        if len(chosen) < 2:
            chosen = [low * (high / low) ** share for share in (0.1, 0.9)]
        shown = words or (lambda v: unit.show(v * size, short) if unit else short(v) + suffix)
        return tuple(Tick(self.percent(v * size), shown(v)) for v in chosen)


@dataclass(frozen=True, slots=True)
class LinearAxis:
    """An axis from zero to `high`, with round ticks."""

    high: float

    @classmethod
    def over(cls, values: Sequence[float]) -> LinearAxis:
        """Returns the axis that holds every value."""
        most = max(values, default=0.0) or 1.0
        return cls(most * (1 + MARGIN))

    def percent(self, value: float) -> float:
        """Returns the place of a value in percent of the axis, clipped to the plot, rounded so that equal reports are
        equal bytes."""
        return round(100 * min(max(value / self.high, 0.0), 1.0), 2)

    def ticks(self, unit: Unit | None = None, most: int = 6) -> tuple[Tick, ...]:
        """Returns a tick at zero and up to `most` above it, at multiples of 1, 2 or 5 times a power of ten."""
        size = unit.size if unit else 1.0
        high = self.high / size
        rough = high / most
        decade = 10.0 ** math.floor(math.log10(rough))
        step = next(m * decade for m in (1, 2, 5, 10) if m * decade >= rough)
        return tuple(Tick(self.percent(k * step * size), short(k * step)) for k in range(int(high / step) + 1))


Axis = LogAxis | LinearAxis


@dataclass(frozen=True, slots=True)
class Mark:
    """One value: its place in percent, its kind (a shape and a CSS class), and its words for a screen reader. Outside
    of a row it has a `y`, too, in percent from the top."""

    x: float
    kind: str
    title: str
    y: float = 0.0


@dataclass(frozen=True, slots=True)
class PlotRow:
    """One line of a figure: a label, an optional bar from `low` to `high`, marks and a value in words."""

    label: str
    y: int
    marks: tuple[Mark, ...]
    low: float | None = None
    high: float | None = None
    value: str = ""
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Plot:
    """A figure. `band` is a shaded range and `line` a reference, in percent; `legend` is (kind, word) pairs."""

    id: str
    title: str
    description: str
    axis_label: str
    ticks: tuple[Tick, ...]
    rows: tuple[PlotRow, ...]
    band: tuple[float, float] | None = None
    line: float | None = None
    legend: tuple[tuple[str, str], ...] = field(default=())

    @property
    def height(self) -> int:
        """Returns the height of all rows, in pixels."""
        return len(self.rows) * ROW_HEIGHT


def row_y(index: int) -> int:
    """Returns the middle of row `index`, in pixels from the top of the rows."""
    return index * ROW_HEIGHT + ROW_HEIGHT // 2
