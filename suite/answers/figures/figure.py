"""A figure: tables of marks on two axes, which one macro draws (reports/templates/macros/svg.html.j2).

Without an axis `up` it has a row for each name; with one, a line for each name. Places across are in percent of the
plot, so that a figure fits a phone and a wide screen with text of one size; places down are in pixels.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import polars as pl

from suite.answers.figures.axes import Axis, Tick
from suite.stacks.catalog import STACKS

ROW_HEIGHT = 26  # pixels
HEIGHT = 280  # of a plot of lines, in pixels
LABEL_HEIGHT = 15  # of a line's name beside the plot, in pixels
SHAPES, DASHES = 5, 4  # of a line's marks and of a line; a colour is that of two looks
LOOKS = SHAPES * DASHES  # ways to draw a line: no two share both shape and dash

# The columns of a mark; it needs only those that its shape has. It belongs to the row or line `of` this name, or to
# none. Its `shape` is a `mark` at x and y, a `span` across or a `reach` up from `low` to `high`, a `part` of a bar, a
# point through which a line is `joined`, a `rule` at x or y, or a `band` from `low` to `high`. Its `kind` is its colour
# and, of a mark, its sign.
BLANK: dict[str, Any] = {"of": None, "kind": "", "title": "", **dict.fromkeys(("x", "y", "low", "high"))}

POINTS = {"of": pl.String, "x": pl.Float64, "y": pl.Float64, "title": pl.String}  # the schema of points of lines


@dataclass(frozen=True)
class Figure:
    """A figure. `names` are those of its rows, from the top, or of its lines; the `values` stand at their right, in
    words. `marks` are drawn in this order. The `legend` has (shape, kind, word); lines needn't be in it. A row of
    `links` leads to the place of this name, and has the words of `below` in small print under its name."""

    id: str
    title: str
    names: Sequence[str]
    marks: Sequence[pl.DataFrame]
    across: Axis
    ticks: Sequence[Tick]
    label: str = ""
    up: Axis | None = None
    up_ticks: Sequence[Tick] = ()
    up_label: str = ""
    values: Sequence[str] = ()
    legend: Sequence[tuple[str, str, str]] = ()
    links: Mapping[str, str] = field(default_factory=dict)
    below: Mapping[str, str] = field(default_factory=dict)

    @property
    def height(self) -> int:
        return HEIGHT if self.up else ROW_HEIGHT * len(self.names)

    @property
    def description(self) -> str:
        """The marks in words."""
        return "; ".join(dict.fromkeys(mark["title"] for of in self.drawn.values() for mark in of if mark["title"]))

    @cached_property
    def drawn(self) -> dict[str | None, list[dict[str, Any]]]:
        """The marks of each row or line with their places: y, and the ends of a reach, in pixels from the top of the
        plot; all others in percent of its width."""
        by: dict[str | None, list[dict[str, Any]]] = {name: [] for name in self.names}
        for mark in (BLANK | mark for table in self.marks for mark in table.iter_rows(named=True)):
            along = self.down if mark["shape"] == "reach" else self.across.percent
            for name, place in (("x", self.across.percent), ("y", self.down), ("low", along), ("high", along)):
                mark[name] = None if mark[name] is None else place(mark[name])
            if self.up is None and mark["of"] is not None:
                mark["y"] = row_y(self.names.index(mark["of"]))
            by.setdefault(mark["of"], []).append(mark)
        return by

    def down(self, value: float) -> float:
        """Returns where a value of the axis `up` lies, in pixels from the top of the plot."""
        assert self.up is not None
        return round(HEIGHT * (100 - self.up.percent(value)) / 100, 2)

    @cached_property
    def looks(self) -> dict[str, int]:
        return looks_of(self.names)

    @cached_property
    def beside(self) -> dict[str, float]:
        """Where each line's name stands: beside the line's end, apart from the other names."""
        ends = {name: [mark["y"] for mark in self.drawn[name] if mark["shape"] == "joined"][-1] for name in self.names}
        return apart(ends)


def row_y(place: int) -> int:
    """Returns the middle of a row, in pixels from the top of the plot."""
    return place * ROW_HEIGHT + ROW_HEIGHT // 2


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
