"""A chart of lines: one measured time over many sets, a line a stack, on a log axis."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from suite import units
from suite.report.figures.axes import LogAxis, Tick
from suite.stacks.catalog import STACKS

HEIGHT = 280  # of the plot, in pixels
LABEL_HEIGHT = 15  # of a line's name beside the plot, in pixels
COLOURS = 10  # ways to draw a line, each with a colour, a dash and a shape of its marks
DATES_MAX = 8  # dates written under a chart


@dataclass(frozen=True, slots=True)
class Measured:
    """One value of a line: at which of the chart's places (0 is the first), its seconds with their interval, `words`
    for a reader's pointer, and its `kind`: `same`, or `faster` or `slower` where the line changed."""

    place: int
    seconds: float
    low: float | None
    high: float | None
    words: str
    kind: str = "same"


@dataclass(frozen=True, slots=True)
class Dot:
    """A value as it is drawn: `x`, `y`, `low` and `high` in percent of the plot, y from the top."""

    x: float
    y: float
    low: float | None
    high: float | None
    words: str
    kind: str


@dataclass(frozen=True, slots=True)
class Line:
    """One stack's line. `look` is the number of its colour and dash, `path` its SVG points in percent; `label_y` is
    where its name stands, in pixels from the top of the plot."""

    name: str
    look: int
    path: str
    dots: tuple[Dot, ...]
    label_y: float
    last: str


@dataclass(frozen=True, slots=True)
class LineChart:
    """All lines. `up` are the ticks of the times, `across` the dates, `events` the places between two sets where
    versions changed, each with its words."""

    id: str
    title: str
    description: str
    lines: tuple[Line, ...]
    up: tuple[Tick, ...]
    across: tuple[Tick, ...]
    events: tuple[Tick, ...]
    unit: str
    height: int = HEIGHT


def line_chart(
    id_: str, title: str, dates: Sequence[str], lines: Mapping[str, Sequence[Measured]], events: Mapping[int, str]
) -> LineChart:
    """Returns the chart of lines by their names. `dates` names the places from left to right, oldest first; `events`
    has the words for a change of versions before a place. Every line has a value."""
    values = [value for line in lines.values() for value in line]
    ends = [end for value in values for end in (value.low, value.high) if end is not None]
    axis = LogAxis.over([*(value.seconds for value in values), *ends])
    unit = units.time_unit(value.seconds for value in values)
    looks, count = looks_of(lines), len(dates)
    last_y = {name: HEIGHT * (100 - axis.percent(line[-1].seconds)) / 100 for name, line in lines.items()}
    labels = apart(last_y)
    return LineChart(
        id=id_,
        title=title,
        description="; ".join(f"{name}: {value.words}" for name, line in lines.items() for value in line),
        lines=tuple(
            Line(
                name,
                looks[name],
                " ".join(f"{across(value.place, count)},{down(axis, value.seconds)}" for value in line),
                tuple(dot(value, axis, count) for value in line),
                labels[name],
                units.seconds(line[-1].seconds),
            )
            for name, line in lines.items()
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


def dot(value: Measured, axis: LogAxis, count: int) -> Dot:
    """Returns a value as it is drawn."""
    low, high = (None if end is None else down(axis, end) for end in (value.low, value.high))
    return Dot(across(value.place, count), down(axis, value.seconds), low, high, value.words, value.kind)


def dates_shown(dates: Sequence[str]) -> tuple[Tick, ...]:
    """Returns the dates under the chart: all of a few, else about `DATES_MAX` of them evenly; a date that several sets
    in a row have is written once."""
    step = -(-len(dates) // DATES_MAX)
    ticks = [Tick(across(place, len(dates)), date) for place, date in enumerate(dates) if place % step == 0]
    return tuple(tick for place, tick in enumerate(ticks) if place == 0 or tick.label != ticks[place - 1].label)


def looks_of(names: Iterable[str]) -> dict[str, int]:
    """Returns the look of each line. A stack of the catalogue has the same look on every page, unless a variant of it
    is in the chart before it."""
    order = {name: place for place, name in enumerate(STACKS)}
    looks: dict[str, int] = {}
    for name in names:
        wished = order.get(name.partition("@")[0], len(order)) % COLOURS
        free = [look for look in range(COLOURS) if look not in looks.values()]
        looks[name] = wished if wished in free or not free else free[0]
    return looks


def apart(wished: Mapping[str, float]) -> dict[str, float]:
    """Returns where labels stand, in pixels from the top: as near as possible to where they should, none on another,
    and all beside the plot if there is room for them."""
    placed: dict[str, float] = {}
    lowest = -LABEL_HEIGHT / 2
    for name, y in sorted(wished.items(), key=lambda entry: entry[1]):
        lowest = max(y, lowest + LABEL_HEIGHT)
        placed[name] = lowest
    limit = HEIGHT + LABEL_HEIGHT / 2
    for name in reversed(placed):  # what was pushed out at the bottom pushes the others up
        limit = min(placed[name], limit - LABEL_HEIGHT)
        placed[name] = round(limit, 1)
    return placed
