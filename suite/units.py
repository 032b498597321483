"""Numbers as people read them: three significant digits, and one unit for a whole column.

The rule of units: a column has one unit, chosen so that its median is at least 1. A value of the column keeps this unit
in sentences and lines of progress, too. A value that would take five digits in it (a time: six), or be under a
hundredth, is written in the unit that fits it, with that unit's name: 174 s in a column of milliseconds. So is a value
that is in no column.

Every function returns a dash for an unknown number (None or not finite), so that no page shows "None" or "nan".
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

UNKNOWN = "–"
UNKNOWING = 1e4  # the ends of an interval of ratios are apart by more: two blocks that differ widely
# Units that people write after a number, in bytes and in seconds.
BYTES = {
    "b": 1,
    "kb": 10**3,
    "mb": 10**6,
    "gb": 10**9,
    "kib": 2**10,
    "mib": 2**20,
    "gib": 2**30,
    "k": 2**10,
    "m": 2**20,
    "g": 2**30,
}
SECONDS = {"": 1, "s": 1, "min": 60, "m": 60, "h": 3600}
LEAST, MOST = 0.01, 9_995.0  # in a column's unit; a value outside of these is written in another unit
MOST_SECONDS = 99_950.0  # likewise of times: a first run of 12,600 ms stays beside steps of milliseconds
_SECONDS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
_BYTES = ((2.0**40, "TiB"), (2.0**30, "GiB"), (2.0**20, "MiB"), (2.0**10, "KiB"), (1.0, "B"))
_PLAIN = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""))


def is_known(value: float | None) -> bool:
    """Whether there is a finite number to show."""
    return value is not None and math.isfinite(value)


def digits(value: float | None) -> str:
    """Returns three significant digits: `24,800`, `0.0221`; in scientific notation below 1e-4 and from 1e15 on."""
    if value is None or not math.isfinite(value):
        return UNKNOWN
    if value == 0:
        return "0"
    if not 1e-4 <= abs(value) < 1e15:
        return f"{value:.2e}"
    places = 2 - math.floor(math.log10(abs(value)))
    rounded = round(value, places)
    # Rounding may carry into the next decade (9.996 -> 10.00), which needs one digit less.
    places = 2 - math.floor(math.log10(abs(rounded)))
    return f"{rounded:,.{max(places, 0)}f}".replace("-", "\N{MINUS SIGN}")


def short(value: float | None) -> str:
    """Returns three significant digits without trailing zeros: `20`, not `20.0`."""
    shown = digits(value)
    return shown.rstrip("0").rstrip(".") if "." in shown else shown


Scale = tuple[tuple[float, str], ...]  # (size, name) of the units of one quantity, the largest first


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit and its size in the base unit: milliseconds are Unit('ms', 1e-3). A value outside `LEAST` to `MOST` is
    written in another unit of the `scale`, if there is one."""

    name: str
    size: float
    scale: Scale = field(default=(), compare=False, repr=False)

    def of(self, value: float | None) -> Unit:
        """Returns the unit in which a value of its column is written."""
        most = MOST_SECONDS if self.scale == _SECONDS else MOST
        if not self.scale or not value or not math.isfinite(value) or LEAST <= abs(value) / self.size < most:
            return self
        return _fitting([value], self.scale)

    def show(self, value: float | None, number: Callable[[float | None], str] = digits) -> str:
        """Returns the number alone, for a cell whose column names the unit; with the unit's name if the value is
        written in another unit. `number` formats it."""
        return self.written(value, number) if self.of(value) != self else number(self.scaled(value))

    def __call__(self, value: float | None) -> str:
        """Returns the number with its unit, for a sentence."""
        return self.written(value, digits)

    def written(self, value: float | None, number: Callable[[float | None], str]) -> str:
        """Returns the number, formatted by `number`, with the name of its unit."""
        unit = self.of(value)
        shown = number(unit.scaled(value))
        return shown if shown == UNKNOWN or not unit.name else f"{shown} {unit.name}"

    def scaled(self, value: float | None) -> float | None:
        """Returns a value in this unit."""
        return None if value is None else value / self.size


def _fitting(values: Iterable[float | None], scale: Scale) -> Unit:
    """Returns the largest unit in which the median of `values` is at least 1; the smallest unit if there is none."""
    known = sorted(abs(v) for v in values if v is not None and math.isfinite(v) and v)
    middle = known[len(known) // 2] if known else scale[-1][0]
    # A hair of slack keeps 999.6 ms, which shows as 1,000 ms, in seconds.
    size, name = next(((s, n) for s, n in scale if middle >= s * 0.9995), scale[-1])
    return Unit(name, size, scale)


def time_unit(values: Iterable[float | None]) -> Unit:
    """Returns s, ms, µs or ns for a column of seconds."""
    known = [v for v in values if is_known(v)]
    return _fitting(known, _SECONDS) if known else Unit("s", 1.0, _SECONDS)


def byte_unit(values: Iterable[float | None]) -> Unit:
    """Returns B to TiB (powers of 1024) for a column of bytes."""
    return _fitting(values, _BYTES)


def rate_unit(values: Iterable[float | None], item: str = "items") -> Unit:
    """Returns thousands, millions … of `item` a second for a column of rates."""
    return _fitting(values, tuple((size, f"{name} {item}/s".strip()) for size, name in _PLAIN))


def seconds(value: float | None) -> str:
    """Returns one duration in the unit that fits it."""
    return time_unit([value])(value)


def duration(value: float) -> str:
    """Returns a number of seconds in words: `12 s`, `4 min 05 s`, `3 h 20 min`."""
    minutes, rest = divmod(round(value), 60)
    hours, left = divmod(minutes, 60)
    if hours:
        return f"{hours:,} h {left:02d} min"
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"


def age(value: float) -> str:
    """Returns an age in seconds, roughly in words: `3 days`, `5 h` or `12 min`."""
    minutes = int(value) // 60
    days, hours = minutes // 1440, minutes // 60
    return f"{days} days" if days > 1 else f"{hours} h" if hours else f"{minutes} min"


def quantity(value: float | None) -> str:
    """Returns one number of bytes in the unit that fits it."""
    return byte_unit([value])(value)


def quantity_of(value: float | None, item: str) -> str:
    """Returns one number of `item`, in thousands, millions …: `2.5 GFLOP`."""
    return _fitting([value], tuple((size, f"{name}{item}") for size, name in _PLAIN))(value)


def steps(number: int) -> str:
    """Returns a number of steps that was computed from measured times, like a break-even: up to 999 in full, from there
    on with three significant digits, since the times have no more."""
    return short(number)


def ratio(value: float | None, low: float | None = None, high: float | None = None) -> str:
    """Returns a speedup: `1.42×`. One whose interval excludes 1 has as many digits as tell it from 1: `0.9996×`."""
    if value is not None and low is not None and high is not None and not low <= 1 <= high:
        return f"{beside_one(value)}×"
    return f"{digits(value)}×" if is_known(value) else UNKNOWN


def interval(low: float | None, high: float | None, unit: Unit | None = None) -> str:
    """Returns an interval: `[1.35, 1.50]`; empty if an end is unknown.

    Without a unit it is the interval of a ratio; one that says next to nothing ends at a hundredth and at a hundred. An
    end near 1 gets the digits that tell it from 1: `[0.848, 0.9996]`; an end that is exactly 1 has an open bracket,
    since a step-down test has excluded 1: `[0.848, 1.00)`.
    """
    if low is None or high is None or not (is_known(low) and is_known(high)):
        return ""
    if unit is not None:
        fitting = unit.of(high)
        shown = f"[{digits(fitting.scaled(low))}, {digits(fitting.scaled(high))}]"
        return shown if fitting == unit else f"{shown} {fitting.name}"
    left, right = "(" if low == 1 < high else "[", ")" if low < 1 == high else "]"
    ends = [beside_one(low), beside_one(high)]
    if high > UNKNOWING * low:
        ends = [ends[0] if low > 0.01 else "< 0.01", ends[1] if high < 100 else "> 100"]
    return f"{left}{', '.join(ends)}{right}"


def beside_one(value: float) -> str:
    """Returns three significant digits, or as many as it takes to tell the number from 1, up to nine decimals."""
    if value == 1 or digits(value) != digits(1.0):
        return digits(value)
    shown = f"{value:.{min(9, math.ceil(-math.log10(abs(value - 1))))}f}"
    return shown if float(shown) != 1 else digits(value)


def estimate(value: float | None, low: float | None, high: float | None) -> str:
    """Returns a speedup with its interval, if it has one: `1.42× [1.35, 1.50]`."""
    return f"{ratio(value, low, high)} {interval(low, high)}".strip()


def magnitude(value: float | None) -> str:
    """Returns an error, of which only the magnitude matters: `2.2e-07`."""
    return f"{value:.1e}" if value is not None and math.isfinite(value) else UNKNOWN


def percent(value: float | None) -> str:
    """Returns a share as a percentage: `1.23 %` for 0.0123, `5 %` for 0.05, `< 0.1 %` for less than a thousandth."""
    if value is not None and 0 < value < 1e-3:
        return "< 0.1 %"
    return f"{short(value * 100)} %" if value is not None and math.isfinite(value) else UNKNOWN


def parse(text: str, units: Mapping[str, int]) -> float | None:
    """Returns `512MiB` or `10min` as a number in the base unit; None if it isn't above 0 or has none of these units."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*", text.lower())
    return float(match[1]) * units[match[2]] or None if match and match[2] in units else None
