"""Writes a history as a page with charts, as a Parquet file, or as lines of a table."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from suite import units
from suite.answers.figures.curves import CurveChart
from suite.answers.figures.lines import ChartPoint, line_chart
from suite.report.formats.render import filled, write
from suite.site.history import Point


@dataclass(frozen=True, slots=True)
class Series:
    """One case on one machine, oldest set first."""

    points: tuple[Point, ...]

    @property
    def name(self) -> str:
        """Returns the name of a series, like `gpt2-full-train-f32-cpu on jax_jit`."""
        return f"{self.points[0].question} on {self.points[0].stack}"

    @property
    def machine(self) -> str:
        return f"{self.points[0].machine} ({self.points[0].machine_id[:8]})"

    @property
    def lines(self) -> list[tuple[str, ...]]:
        return lines_of(self.points)


@dataclass(frozen=True, slots=True)
class HistoryPanel:
    """One question on one machine: a chart with a line for each stack, the points that are changes, and all points for
    a table."""

    name: str
    machine: str
    chart: CurveChart
    changes: tuple[Point, ...]
    points: tuple[Point, ...]


def lines_of(points: Sequence[Point]) -> list[tuple[str, ...]]:
    """Returns the lines of a table: date, set, versions, time of a step, its interval, and the change."""
    return [
        (
            point.created_at[:16].replace("T", " "),
            point.set_name,
            point.versions,
            units.seconds(point.seconds),
            " to ".join(map(units.seconds, point.interval)) if point.interval else units.UNKNOWN,
            change_text(point),
        )
        for point in points
    ]


def change_text(point: Point) -> str:
    """Returns text like `1.10× slower`; empty if nothing changed."""
    if point.ratio is None:
        return ""
    return f"{units.ratio(point.ratio)} faster" if point.ratio > 1 else f"{units.ratio(1 / point.ratio)} slower"


def series_of(points: Sequence[Point]) -> list[Series]:
    groups = groupby(points, key=lambda point: (point.question, point.stack, point.machine_id, point.case_id))
    return [Series(tuple(group)) for _, group in groups]


def panels_of(points: Sequence[Point]) -> list[HistoryPanel]:
    """Returns a panel for each question on each machine, because a line must never join times of two machines."""
    groups: dict[tuple[str, str], list[Series]] = defaultdict(list)
    for series in series_of(points):
        groups[series.points[0].question, series.points[0].machine_id].append(series)
    return [panel(groups[key]) for key in sorted(groups)]


def panel(group: Sequence[Series]) -> HistoryPanel:
    head = group[0].points[0]
    sets = sorted({(point.created_at, point.set_name) for series in group for point in series.points})
    places = {name: place for place, (_, name) in enumerate(sets)}
    lines = {name: [chart_point(point, places) for point in series.points] for name, series in named(group).items()}
    digest = hashlib.sha256(f"{head.question}\n{head.machine_id}".encode()).hexdigest()[:12]
    chart = line_chart(
        f"h-{digest}", "A step, set by set", [date[:10] for date, _ in sets], lines, versions_changed(group, places)
    )
    points = sorted(
        (point for series in group for point in series.points), key=lambda point: (places[point.set_name], point.stack)
    )
    changed = tuple(point for point in points if point.ratio is not None)
    return HistoryPanel(head.question, group[0].machine, chart, changed, tuple(points))


def named(group: Sequence[Series]) -> dict[str, Series]:
    """Returns {name of a line in the chart: series}. The name is that of the stack. If a stack has several series,
    because several cases have the same name, the beginning of the case's id follows."""
    counts = Counter(series.points[0].stack for series in group)
    return {
        head.stack if counts[head.stack] == 1 else f"{head.stack} ({head.case_id[:8]})": series
        for series in group
        for head in series.points[:1]
    }


def chart_point(point: Point, places: Mapping[str, int]) -> ChartPoint:
    """Returns a point of the history as a point of its chart; `places` has the place of each set."""
    low, high = point.interval or (None, None)
    kind = "same" if point.ratio is None else "faster" if point.ratio > 1 else "slower"
    words = f"{point.created_at[:10]}: {units.seconds(point.seconds)} {change_text(point)}".strip()
    return ChartPoint(places[point.set_name], point.seconds, low, high, f"{words}; {point.versions}", kind)


def versions_changed(group: Sequence[Series], places: Mapping[str, int]) -> dict[int, str]:
    """Returns {place: words} for each set in which a stack has other versions than in its previous set."""
    words: dict[int, dict[str, None]] = defaultdict(dict)
    for series in group:
        for before, after in pairwise(series.points):
            if before.versions != after.versions:
                change = f"{after.stack}: {before.versions} → {after.versions}"
                words[places[after.set_name]][change] = None
    return {place: "; ".join(changes) for place, changes in words.items()}


def write_page(points: Sequence[Point], out: Path) -> None:
    write(out, page("History", panels_of(points)))


def page(title: str, panels: Sequence[HistoryPanel], links: Mapping[str, str] | None = None, home: str = "") -> str:
    """Returns the HTML of a history. `links` is {set's name: address of its page}, `home` the address of the site's
    index."""
    return filled(
        "history.html.j2",
        styles=("style.css", "lines.css"),
        title=title,
        panels=panels,
        links=links or {},
        home=home,
        change_text=change_text,
    )


def point_json(point: Point) -> dict[str, Any]:
    """Returns a point as data for JSON. `change` is the time before over the time since; None if nothing changed."""
    low, high = point.interval or (None, None)
    return {
        "set": point.set_name,
        "created_at": point.created_at,
        "machine_id": point.machine_id,
        "machine": point.machine,
        "case_id": point.case_id,
        "question": point.question,
        "stack": point.stack,
        "versions": point.versions,
        "processes": len(point.logs),
        "seconds": point.seconds,
        "low_seconds": low,
        "high_seconds": high,
        "change": point.ratio,
    }


def write_parquet(points: Sequence[Point], out: Path) -> None:
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
