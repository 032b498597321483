"""A chart of lines: one measured time over many sets, with a line for each stack, on a log axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from suite import units
from suite.answers.figures.axes import LogAxis, Tick
from suite.answers.figures.curves import CurveChart, DrawnCurve, DrawnPoint, from_top, labels, looks_of

DATES_MAX = 8  # of the dates under a chart are written


@dataclass(frozen=True, slots=True)
class ChartPoint:
    """One measured time of a stack: the number of its `place` on the chart (0 is the first), its seconds with their
    interval, `words` that a reader's pointer shows, and its `kind`: `faster` or `slower` where the stack changed, else
    `same`."""

    place: int
    seconds: float
    low: float | None
    high: float | None
    words: str
    kind: str = "same"


def line_chart(
    id_: str, title: str, dates: Sequence[str], series: Mapping[str, Sequence[ChartPoint]], events: Mapping[int, str]
) -> CurveChart:
    """Returns the chart of each stack's points, of which there is at least one. `dates` names the places from left to
    right, oldest first. `events` has for a place the words on the versions that changed just before it."""
    all_points = [point for points in series.values() for point in points]
    ends = [end for point in all_points for end in (point.low, point.high) if end is not None]
    axis = LogAxis.over([*(point.seconds for point in all_points), *ends])
    unit = units.time_unit(point.seconds for point in all_points)
    looks, beside = looks_of(series), labels({name: points[-1].seconds for name, points in series.items()}, axis)
    lines = []
    for name, points in series.items():
        drawn = tuple(drawn_point(point, axis, len(dates)) for point in points)
        path, words = " ".join(f"{at.x},{at.y}" for at in drawn), "; ".join(f"{name}: {at.words}" for at in drawn)
        last = units.seconds(points[-1].seconds)
        lines.append(DrawnCurve(name, looks[name], path, beside[name], words, drawn, last))
    return CurveChart(
        id=id_,
        title=title,
        across_label="",
        across=dates_shown(dates),
        up=axis.ticks(unit),
        curves=tuple(lines),
        events=tuple(Tick(round(100 * place / len(dates), 2), words) for place, words in sorted(events.items())),
        up_label=f"{unit.name}, log",
    )


def across(place: int, count: int) -> float:
    """Returns where the middle of a place lies, in percent of the plot's width."""
    return round(100 * (place + 0.5) / count, 2)


def drawn_point(point: ChartPoint, axis: LogAxis, count: int) -> DrawnPoint:
    """Returns a point as it is drawn on a chart with `count` places."""
    low, high = (None if end is None else from_top(axis, end) for end in (point.low, point.high))
    return DrawnPoint(across(point.place, count), from_top(axis, point.seconds), low, high, point.words, point.kind)


def dates_shown(dates: Sequence[str]) -> tuple[Tick, ...]:
    """Returns the dates under the chart: all if they are few, else at most `DATES_MAX`, evenly spaced. A date that
    several sets in a row have is written once."""
    step = -(-len(dates) // DATES_MAX)
    ticks = [Tick(across(place, len(dates)), date) for place, date in enumerate(dates) if place % step == 0]
    return tuple(tick for place, tick in enumerate(ticks) if place == 0 or tick.label != ticks[place - 1].label)
