"""Ratios with their intervals, a row for each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from suite import units
from suite.answers.figures.axes import LogAxis
from suite.answers.figures.figure import Figure

ENDS = ("speedup", "speedup_low", "speedup_high")
VERDICTS = ("faster", "slower", "tie", "close", "undecided")  # in the legend's order
SIGNS = {"faster": "▲", "slower": "▼", "tie": "=", "close": "≈", "undecided": "?", "baseline": "◆", "mean": ""}


def ratio_axis(table: pl.DataFrame, tie: float) -> LogAxis:
    """Returns an axis that holds ratios with their intervals, and the band in which a ratio is a tie."""
    ends = [end for line in table.select(ENDS).iter_rows() for end in line if end is not None]
    return LogAxis.over([*ends, 1 / tie, tie])


def behind(rows: pl.DataFrame, tie: float) -> list[pl.DataFrame]:
    """Returns what lies behind the marks: the band in which a ratio is a tie, the line at 1×, and the intervals."""
    return [
        pl.DataFrame({"shape": ["band"], "low": [1 / tie], "high": [tie]}),
        pl.DataFrame({"shape": ["rule"], "x": [1.0], "kind": ["one"]}),
        rows.drop_nulls(("low", "high")).with_columns(shape=pl.lit("span")),
    ]


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
        marks=[*behind(rows, tie), rows.select("of", "x", "kind", pl.Series("title", titles), shape=pl.lit("mark"))],
        across=axis,
        ticks=axis.ticks(words=lambda value: f"{units.short(value)}×"),
        label=f"speedup, log scale; shaded: tie, within {units.percent(tie - 1)}",
        legend=[("mark", word, word) for word in VERDICTS if word in known["verdict"].to_list()],
    )


def dots(id_: str, title: str, table: pl.DataFrame, tie: float, unit: units.Unit, baseline: str) -> Figure:
    """Returns the figure of one question: a row for each stack of the `table`, with its time and verdict beside it. The
    baseline (its verdict is `baseline`) lies at 1×; a stack without a time that counts has how it `ended`."""
    ratios_ = table.with_columns(speedup=pl.when(verdict="baseline").then(1.0).otherwise("speedup"))
    axis, lines = ratio_axis(ratios_, tie), ratios_.to_dicts()
    rows = ratios_.select(of="stack", x="speedup", low="speedup_low", high="speedup_high", kind="verdict")
    values = [beside(line, unit) for line in lines]
    told = [", ".join(filter(None, (line["verdict"], line["judged_note"]))) for line in lines]
    titles = [f"{line['stack']}: {value}, {words}" for line, value, words in zip(lines, values, told, strict=True)]
    return Figure(
        id=id_,
        title=title,
        names=rows["of"].to_list(),
        values=values,
        marks=[
            *behind(rows, tie),
            rows.with_columns(pl.Series("title", titles), shape=pl.lit("mark")).drop("low", "high").drop_nulls("x"),
        ],
        across=axis,
        ticks=axis.ticks(words=lambda value: f"{units.short(value)}×"),
        label=f"speedup over {baseline}",
    )


def beside(line: Mapping[str, Any], unit: units.Unit) -> str:
    """Returns `11.9 ms ▲ 1.70× [1.59, 1.77]`; of the baseline its time, of a stack without one how it ended."""
    if not line["counts"]:
        return str(line["ended"])
    ratio = "1×" if line["verdict"] == "baseline" else units.estimate(*(line[end] for end in ENDS))
    return f"{unit(line['median_seconds'])} {SIGNS.get(line['verdict'], '')} {ratio}"
