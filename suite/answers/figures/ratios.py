"""Ratios with their intervals, a row for each."""

from __future__ import annotations

import polars as pl

from suite import units
from suite.answers.figures.axes import LogAxis
from suite.answers.figures.figure import Figure

ENDS = ("speedup", "speedup_low", "speedup_high")
VERDICTS = ("faster", "slower", "tie", "close", "undecided")  # in the legend's order


def ratio_axis(table: pl.DataFrame, tie: float) -> LogAxis:
    """Returns an axis that holds ratios with their intervals, and the band in which a ratio is a tie."""
    ends = [end for line in table.select(ENDS).iter_rows() for end in line if end is not None]
    return LogAxis.over([*ends, 1 / tie, tie])


def ratios(
    id_: str, title: str, table: pl.DataFrame, tie: float, axis: LogAxis | None = None, by: str = "stack"
) -> Figure | None:
    """Returns the figure of a table's ratios and verdicts, with a row for each value of the column `by`, and the band
    in which a ratio is a tie; None without a ratio. Figures that a reader compares share their `axis`."""
    known = table.drop_nulls("speedup")
    if known.is_empty():
        return None
    axis = axis or ratio_axis(known, tie)
    values = [units.estimate(*ends) for ends in known.select(ENDS).iter_rows()]
    rows = known.select(of=by, x="speedup", low="speedup_low", high="speedup_high", kind="verdict")
    titles = [f"{row[0]}: {value}, {row[-1]}" for row, value in zip(rows.iter_rows(), values, strict=True)]
    return Figure(
        id=id_,
        title=title,
        names=rows["of"].to_list(),
        values=values,
        marks=[
            pl.DataFrame({"shape": ["band"], "low": [1 / tie], "high": [tie]}),
            pl.DataFrame({"shape": ["rule"], "x": [1.0], "kind": ["one"]}),
            rows.drop_nulls(("low", "high")).with_columns(shape=pl.lit("span")),
            rows.select("of", "x", "kind", pl.Series("title", titles), shape=pl.lit("mark")),
        ],
        across=axis,
        ticks=axis.ticks(words=lambda value: f"{units.short(value)}×"),
        label=f"speedup, log scale; shaded: tie, within {units.percent(tie - 1)}",
        legend=[("mark", word, word) for word in VERDICTS if word in known["verdict"].to_list()],
    )
