"""A chart of curves on two numeric axes: total times over steps, peaks over sizes, roofs over operations a byte; or a
time over sets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from suite.answers.figures.axes import Axis, Tick
from suite.stacks.catalog import STACKS

HEIGHT = 280  # of the plot, in pixels
LABEL_HEIGHT = 15  # of a line's name beside the plot, in pixels
LOOKS = 10  # ways to draw a line, each with a colour, a dash and a shape of its marks

Points = Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class DrawnPoint:
    """A point of a curve: `x`, `y` and the ends of its interval in percent of the plot, all but `x` from the top. Its
    `kind` says whether the stack became `faster` or `slower` there, or is the `same`."""

    x: float
    y: float
    low: float | None
    high: float | None
    words: str
    kind: str


@dataclass(frozen=True, slots=True)
class DrawnCurve:
    """One curve. `look` is the number of its colour and dash, `path` its SVG points in percent, y from the top;
    `label_y` is where its name stands, in pixels from the top of the plot; `words` describe it to a screen reader, and
    `value` stands beside its name. The `points` are marked."""

    name: str
    look: int
    path: str
    label_y: float
    words: str
    points: tuple[DrawnPoint, ...] = ()
    value: str = ""


@dataclass(frozen=True, slots=True)
class CurveChart:
    """All curves. `marks` are single points as (x, y, words) in percent, y from the top. `limit` is the y of a dashed
    line, in percent from the top. `events` are the places between two sets where versions changed, with their words."""

    id: str
    title: str
    across_label: str
    across: tuple[Tick, ...]
    up: tuple[Tick, ...]
    curves: tuple[DrawnCurve, ...]
    marks: tuple[tuple[float, float, str], ...] = ()
    height: int = HEIGHT
    limit: float | None = None
    events: tuple[Tick, ...] = ()
    up_label: str = ""

    @property
    def description(self) -> str:
        """Returns the curves in words."""
        return "; ".join(curve.words for curve in self.curves)


def curves(series: Mapping[str, tuple[Points, str]], x_axis: Axis, y_axis: Axis) -> tuple[DrawnCurve, ...]:
    """Returns the curves of {name: (points in the axes' units, words)}. A stack has the same look on every page."""
    looks, beside = looks_of(series), labels({name: points[-1][1] for name, (points, _) in series.items()}, y_axis)
    return tuple(
        DrawnCurve(name, looks[name], path(points, x_axis, y_axis), beside[name], words)
        for name, (points, words) in series.items()
    )


def marks(
    series: Iterable[tuple[float, float, str]], x_axis: Axis, y_axis: Axis
) -> tuple[tuple[float, float, str], ...]:
    """Returns the marks at the places (x, y, words), which are in the axes' units."""
    return tuple((x_axis.percent(x), from_top(y_axis, y), words) for x, y, words in series)


def path(points: Points, x_axis: Axis, y_axis: Axis) -> str:
    """Returns the SVG points of a curve, in percent, y from the top."""
    return " ".join(f"{x_axis.percent(x):g},{from_top(y_axis, y):g}" for x, y in points)


def from_top(axis: Axis, value: float) -> float:
    """Returns where a value lies, in percent of the plot's height from the top."""
    return round(100 - axis.percent(value), 2)


def labels(last: Mapping[str, float], axis: Axis) -> dict[str, float]:
    """Returns the y of each curve's name, in pixels from the top of the plot, beside the curve's last value."""
    return apart({name: HEIGHT * (100 - axis.percent(value)) / 100 for name, value in last.items()})


def looks_of(names: Iterable[str]) -> dict[str, int]:
    """Returns the look of each line. A stack of the catalogue has the same look on every page, unless an earlier line
    of the chart, such as a variant of the stack, has that look already."""
    order = {name: place for place, name in enumerate(STACKS)}
    looks: dict[str, int] = {}
    for name in names:
        wished = order.get(re.split("[@:]", name)[0], len(order)) % LOOKS
        free = [look for look in range(LOOKS) if look not in looks.values()]
        looks[name] = wished if wished in free or not free else free[0]
    return looks


def apart(wished: Mapping[str, float]) -> dict[str, float]:
    """Returns the y of each label, in pixels from the top of the plot: near its wished y, at least `LABEL_HEIGHT` from
    every other label, and beside the plot if it has room for all labels."""
    placed: dict[str, float] = {}
    lowest = -LABEL_HEIGHT / 2
    for name, y in sorted(wished.items(), key=lambda entry: entry[1]):
        lowest = max(y, lowest + LABEL_HEIGHT)
        placed[name] = lowest
    limit = HEIGHT + LABEL_HEIGHT / 2
    for name in reversed(placed):  # a label that was pushed below the plot moves up, and pushes the others up
        limit = min(placed[name], limit - LABEL_HEIGHT)
        placed[name] = round(limit, 1)
    return placed
