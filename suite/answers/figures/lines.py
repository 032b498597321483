"""Times over a size or a number of steps: a line for each stack, both axes logarithmic."""

from __future__ import annotations

import polars as pl

from suite import units
from suite.answers.figures.axes import LogAxis
from suite.answers.figures.figure import Figure


def times_over(id_: str, title: str, what: str, points: pl.DataFrame, *, measured: bool) -> Figure:
    """Returns the figure of some `points`: the stack (`of`), x, y in seconds and a title. Each that was `measured` has
    a mark."""
    across, up = LogAxis.over(points["x"]), LogAxis.over(points["y"])
    line = points.with_columns(shape=pl.lit("joined"))
    marks = points.with_columns(shape=pl.lit("mark"), kind=pl.lit("crossing"))
    return Figure(
        id=id_,
        title=title,
        names=points["of"].unique(maintain_order=True).to_list(),
        marks=[line.drop("title"), marks] if measured else [line],
        across=across,
        ticks=across.ticks(),
        label=f"{what}, log scale; time on a log scale, too",
        up=up,
        up_ticks=up.ticks(words=round_time),
    )


def round_time(seconds: float) -> str:
    """Returns `20 ms`: a round time in a unit that suits it, since no unit suits all times of an axis over many
    decades."""
    unit = units.time_unit([seconds])
    return f"{units.short(seconds / unit.size)} {unit.name}"
