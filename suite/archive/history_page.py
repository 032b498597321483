"""A history as a page, as a table for a notebook, and as lines: the figures are the report's own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from suite import units
from suite.archive.history import Point
from suite.report.figures.axes import LogAxis, Mark, Plot, PlotRow, row_y
from suite.report.formats.render import TEMPLATES, environment, policy, write

LEGEND = (("steady", "median of a step, with its interval"), ("faster", "became faster"), ("slower", "became slower"))


@dataclass(frozen=True, slots=True)
class Series:
    """One case on one machine, oldest set first."""

    points: tuple[Point, ...]

    @property
    def name(self) -> str:
        """`gpt2-full-train-f32-cpu on jax_jit`."""
        return f"{self.points[0].question} on {self.points[0].stack}"

    @property
    def machine(self) -> str:
        """The processor, and which machine."""
        return f"{self.points[0].machine} ({self.points[0].machine_id[:8]})"

    @property
    def lines(self) -> list[tuple[str, ...]]:
        """Of a table."""
        return lines_of(self.points)

    @property
    def figure(self) -> Plot:
        """A row a set."""
        return plot(f"h-{self.points[0].case_id[:12]}-{self.points[0].machine_id[:8]}", self.points)


def lines_of(points: Sequence[Point]) -> list[tuple[str, ...]]:
    """Of a table: date, set, versions, a step, its interval, the change."""
    return [
        (
            each.created_at[:16].replace("T", " "),
            each.set_name,
            each.versions,
            units.seconds(each.seconds),
            " to ".join(map(units.seconds, each.interval)) if each.interval else units.UNKNOWN,
            change_text(each),
        )
        for each in points
    ]


def change_text(each: Point) -> str:
    """`1.10× slower`; empty where nothing changed."""
    if each.ratio is None:
        return ""
    return f"{units.ratio(each.ratio)} faster" if each.ratio > 1 else f"{units.ratio(1 / each.ratio)} slower"


def series_of(points: Sequence[Point]) -> list[Series]:
    """In the order that they are in."""
    groups = groupby(points, key=lambda each: (each.question, each.stack, each.machine_id, each.case_id))
    return [Series(tuple(group)) for _, group in groups]


def plot(id_: str, points: Sequence[Point]) -> Plot:
    """A row a set, oldest first."""
    ends = [end for each in points for end in (each.interval or ())]
    axis, unit = LogAxis.over([*ends, *(each.seconds for each in points)]), units.time_unit(p.seconds for p in points)
    rows = []
    for index, each in enumerate(points):
        kind = "steady" if each.ratio is None else "faster" if each.ratio > 1 else "slower"
        low, high = (axis.x(end) for end in each.interval) if each.interval else (None, None)
        words = f"{each.created_at[:10]}: {units.seconds(each.seconds)} {change_text(each)}".strip()
        rows.append(
            PlotRow(
                each.created_at[:10],
                row_y(index),
                (Mark(axis.x(each.seconds), kind, words),),
                low,
                high,
                units.seconds(each.seconds),
            )
        )
    return Plot(
        id_,
        "A step, set by set",
        "; ".join(mark.title for row in rows for mark in row.marks),
        f"{unit.name} a step, log scale",
        axis.ticks(unit),
        tuple(rows),
        legend=LEGEND,
    )


def write_page(points: Sequence[Point], out: Path) -> None:
    """One self-contained HTML file."""
    style = (TEMPLATES / "partials" / "style.css").read_text(encoding="utf-8")
    template = environment().get_template("history.html.j2")
    write(out, template.render(series=series_of(points), style=style, policy=policy(style, "")))


def point_json(each: Point) -> dict[str, Any]:
    """One case in one set; `change` is the time before over the time since, null where nothing changed."""
    low, high = each.interval or (None, None)
    return {
        "set": each.set_name,
        "created_at": each.created_at,
        "machine_id": each.machine_id,
        "machine": each.machine,
        "case_id": each.case_id,
        "question": each.question,
        "stack": each.stack,
        "versions": each.versions,
        "processes": len(each.logs),
        "seconds": each.seconds,
        "low_seconds": low,
        "high_seconds": high,
        "change": each.ratio,
    }


def write_parquet(points: Sequence[Point], out: Path) -> None:
    """One row a set and case."""
    texts = ("set", "created_at", "machine_id", "machine", "case_id", "question", "stack", "versions")
    numbers = ("seconds", "low_seconds", "high_seconds", "change")
    schema = pa.schema(
        [
            *((name, pa.string()) for name in texts),
            ("processes", pa.int64()),
            *((name, pa.float64()) for name in numbers),
        ]
    )
    pq.write_table(pa.Table.from_pylist([*map(point_json, points)], schema=schema), out)
