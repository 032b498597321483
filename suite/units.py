"""Numbers as people read them: three significant digits, and one unit for a whole column.

Every function returns a dash for what is unknown (None or not finite), so that a template never
shows "None" or "nan".
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

UNKNOWN = "–"
# What people write after a number.
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
_SECONDS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
_BYTES = ((2.0**40, "TiB"), (2.0**30, "GiB"), (2.0**20, "MiB"), (2.0**10, "KiB"), (1.0, "B"))
_PLAIN = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""))


def is_known(value: float | None) -> bool:
    """Whether there is a finite number to show."""
    return value is not None and math.isfinite(value)


def digits(value: float | None) -> str:
    """Three significant digits, never in scientific notation between 1e-4 and 1e15: `24,800`, `0.0221`."""
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
    """The same without digits that say nothing, for round numbers: `20`, not `20.0`."""
    shown = digits(value)
    return shown.rstrip("0").rstrip(".") if "." in shown else shown


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit and its size in the base unit: milliseconds are Unit('ms', 1e-3)."""

    name: str
    size: float

    def show(self, value: float | None) -> str:
        """The number alone, for a cell whose column names the unit."""
        return digits(value / self.size) if value is not None else UNKNOWN

    def __call__(self, value: float | None) -> str:
        """The number with its unit, for a sentence."""
        shown = self.show(value)
        return shown if shown == UNKNOWN or not self.name else f"{shown} {self.name}"


def _fitting(values: Iterable[float | None], scale: tuple[tuple[float, str], ...]) -> Unit:
    """The largest unit in which the middle of `values` is at least 1, the smallest one where none is."""
    known = sorted(abs(v) for v in values if v is not None and math.isfinite(v) and v)
    middle = known[len(known) // 2] if known else scale[-1][0]
    # A hair of slack keeps 999.6 ms, which shows as 1,000 ms, in seconds.
    size, name = next(((s, n) for s, n in scale if middle >= s * 0.9995), scale[-1])
    return Unit(name, size)


def time_unit(values: Iterable[float | None]) -> Unit:
    """s, ms, µs or ns for a column of seconds."""
    known = [v for v in values if is_known(v)]
    return _fitting(known, _SECONDS) if known else Unit("s", 1.0)


def byte_unit(values: Iterable[float | None]) -> Unit:
    """B to TiB (powers of 1024) for a column of bytes."""
    return _fitting(values, _BYTES)


def rate_unit(values: Iterable[float | None], item: str = "items") -> Unit:
    """Thousands, millions … of `item` a second."""
    unit = _fitting(values, _PLAIN)
    return Unit(f"{unit.name} {item}/s".strip(), unit.size)


def seconds(value: float | None) -> str:
    """One duration in the unit that fits it alone."""
    return time_unit([value])(value)


def duration(value: float) -> str:
    """A wait, in words: `12 s`, `4 min 05 s`, `3 h 20 min`."""
    minutes, rest = divmod(round(value), 60)
    hours, left = divmod(minutes, 60)
    if hours:
        return f"{hours:,} h {left:02d} min"
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"


def age(value: float) -> str:
    """How long ago, roughly: `3 days`, `5 h` or `12 min`; in seconds."""
    minutes = int(value) // 60
    days, hours = minutes // 1440, minutes // 60
    return f"{days} days" if days > 1 else f"{hours} h" if hours else f"{minutes} min"


def quantity(value: float | None) -> str:
    """Bytes in the unit that fits them alone."""
    return byte_unit([value])(value)


def ratio(value: float | None) -> str:
    """A speedup: `1.42×`."""
    return f"{digits(value)}×" if is_known(value) else UNKNOWN


def interval(low: float | None, high: float | None, unit: Unit | None = None) -> str:
    """`[1.35, 1.50]`; empty where there is none."""
    if not (is_known(low) and is_known(high)):
        return ""
    shown = (unit or Unit("", 1.0)).show
    return f"[{shown(low)}, {shown(high)}]"


def estimate(value: float | None, low: float | None, high: float | None) -> str:
    """A speedup with its interval, where it has one: `1.42× [1.35, 1.50]`."""
    return f"{ratio(value)} {interval(low, high)}".strip()


def magnitude(value: float | None) -> str:
    """An error, of which only the order matters: `2.2e-07`."""
    return f"{value:.1e}" if value is not None and math.isfinite(value) else UNKNOWN


def percent(value: float | None) -> str:
    """A share as a percentage: 0.0123 -> `1.23 %`, 0.05 -> `5 %`; under a thousandth only that it is."""
    if value is not None and 0 < value < 1e-3:
        return "< 0.1 %"
    return f"{short(value * 100)} %" if value is not None and math.isfinite(value) else UNKNOWN


def parse(text: str, units: Mapping[str, int]) -> float | None:
    """`512MiB` or `10min` as a number in the base unit; None where it isn't one above 0 with one of these units."""
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*", text.lower())
    return float(found[1]) * units[found[2]] or None if found and found[2] in units else None
