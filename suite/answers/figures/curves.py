"""A chart of curves on two numeric axes: total times over steps, peaks over sizes, roofs over operations a byte."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from suite.answers.figures.axes import Axis, Tick
from suite.answers.figures.lines import HEIGHT, apart, looks_of

Points = Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class DrawnCurve:
    """One curve. `look` is the number of its colour and dash, `path` its SVG points in percent, y from the top;
    `label_y` is where its name stands, in pixels from the top of the plot; `words` describe it to a screen reader."""

    name: str
    look: int
    path: str
    label_y: float
    words: str


@dataclass(frozen=True, slots=True)
class CurveChart:
    """All curves. `marks` are single points as (x, y, words) in percent, y from the top. `limit` is the y of a dashed
    line, in percent from the top."""

    id: str
    title: str
    across_label: str
    across: tuple[Tick, ...]
    up: tuple[Tick, ...]
    curves: tuple[DrawnCurve, ...]
    marks: tuple[tuple[float, float, str], ...] = ()
    height: int = HEIGHT
    limit: float | None = None

    @property
    def description(self) -> str:
        """Returns the curves in words."""
        return "; ".join(curve.words for curve in self.curves)


def curves(series: Mapping[str, tuple[Points, str]], x_axis: Axis, y_axis: Axis) -> tuple[DrawnCurve, ...]:
    """Returns the curves of {name: (points in the axes' units, words)}. A stack has the same look on every page."""
    looks = looks_of(series)
    ends = {name: HEIGHT * (100 - y_axis.percent(points[-1][1])) / 100 for name, (points, _) in series.items()}
    labels = apart(ends)
    return tuple(
        DrawnCurve(name, looks[name], path(points, x_axis, y_axis), labels[name], words)
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
