"""A chart of lines: one measured time over many sets, with a line for each stack, on a log axis."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from suite import units
from suite.answers.figures.axes import LogAxis, Tick
from suite.stacks.catalog import STACKS

HEIGHT = 280  # of the plot, in pixels
LABEL_HEIGHT = 15  # of a line's name beside the plot, in pixels
LOOKS = 10  # ways to draw a line, each with a colour, a dash and a shape of its marks
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


@dataclass(frozen=True, slots=True)
class DrawnPoint:
    """A point as it is drawn: `x`, `y`, `low` and `high` in percent of the plot, `y`, `low` and `high` from the top."""

    x: float
    y: float
    low: float | None
    high: float | None
    words: str
    kind: str


@dataclass(frozen=True, slots=True)
class DrawnSeries:
    """One stack's points and the line through them. `look` is the number of its colour and dash, `path` its SVG points
    in percent; `label_y` is where its name stands, in pixels from the top of the plot; `last` is its last time in
    words."""

    name: str
    look: int
    path: str
    points: tuple[DrawnPoint, ...]
    label_y: float
    last: str


@dataclass(frozen=True, slots=True)
class LineChart:
    """The lines of all stacks. `up` are the ticks of the times, `across` the dates, `events` the places between two
    sets where versions changed, each with its words."""

    id: str
    title: str
    description: str
    series: tuple[DrawnSeries, ...]
    up: tuple[Tick, ...]
    across: tuple[Tick, ...]
    events: tuple[Tick, ...]
    unit: str
    height: int = HEIGHT


def line_chart(
    id_: str, title: str, dates: Sequence[str], series: Mapping[str, Sequence[ChartPoint]], events: Mapping[int, str]
) -> LineChart:
    """Returns the chart of each stack's points, of which there is at least one. `dates` names the places from left to
    right, oldest first. `events` has for a place the words on the versions that changed just before it."""
    all_points = [point for points in series.values() for point in points]
    ends = [end for point in all_points for end in (point.low, point.high) if end is not None]
    axis = LogAxis.over([*(point.seconds for point in all_points), *ends])
    unit = units.time_unit(point.seconds for point in all_points)
    looks, count = looks_of(series), len(dates)
    last_y = {name: HEIGHT * (100 - axis.percent(points[-1].seconds)) / 100 for name, points in series.items()}
    labels = apart(last_y)
    return LineChart(
        id=id_,
        title=title,
        description="; ".join(f"{name}: {point.words}" for name, points in series.items() for point in points),
        series=tuple(
            DrawnSeries(
                name,
                looks[name],
                " ".join(f"{across(point.place, count)},{down(axis, point.seconds)}" for point in points),
                tuple(drawn(point, axis, count) for point in points),
                labels[name],
                units.seconds(points[-1].seconds),
            )
            for name, points in series.items()
        ),
        up=axis.ticks(unit),
        across=dates_shown(dates),
        events=tuple(Tick(round(100 * place / count, 2), words) for place, words in sorted(events.items())),
        unit=unit.name,
    )


def across(place: int, count: int) -> float:
    """Returns where the middle of a place lies, in percent of the plot's width."""
    return round(100 * (place + 0.5) / count, 2)


def down(axis: LogAxis, seconds: float) -> float:
    """Returns where a time lies, in percent of the plot's height from the top."""
    return round(100 - axis.percent(seconds), 2)


def drawn(point: ChartPoint, axis: LogAxis, count: int) -> DrawnPoint:
    """Returns a point as it is drawn on a chart with `count` places."""
    low, high = (None if end is None else down(axis, end) for end in (point.low, point.high))
    return DrawnPoint(across(point.place, count), down(axis, point.seconds), low, high, point.words, point.kind)


def dates_shown(dates: Sequence[str]) -> tuple[Tick, ...]:
    """Returns the dates under the chart: all if they are few, else at most `DATES_MAX`, evenly spaced. A date that
    several sets in a row have is written once."""
    step = -(-len(dates) // DATES_MAX)
    ticks = [Tick(across(place, len(dates)), date) for place, date in enumerate(dates) if place % step == 0]
    return tuple(tick for place, tick in enumerate(ticks) if place == 0 or tick.label != ticks[place - 1].label)


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
