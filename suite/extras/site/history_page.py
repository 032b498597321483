"""Writes a history as a page with charts, as a Parquet file, or as tables."""

from __future__ import annotations

import hashlib
import io
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import chain, groupby
from typing import Any

import polars as pl

from suite import units
from suite.answers.figures.dated import over_sets
from suite.answers.figures.figure import Figure
from suite.extras.site.history import Point
from suite.order import natural
from suite.page.formats.render import filled
from suite.page.tables import Table

HEADS = ("date (UTC)", "set", "versions", "a step", "interval", "change", "what else changed")
COLUMNS: dict[str, Any] = {
    **dict.fromkeys(("set", "created_at", "machine_id", "machine", "case_id", "question"), pl.String),
    **dict.fromkeys(("stack", "kind", "versions", "since"), pl.String),
    "processes": pl.Int64,
    **dict.fromkeys(("seconds", "low_seconds", "high_seconds", "change"), pl.Float64),
}  # `change` is the time before over the time since; null if nothing changed. `kind` says how a further series differs


def table(points: Sequence[Point]) -> pl.DataFrame:
    """Returns a history for programs, a line for each point."""
    lines = [
        (
            *(point.set_name, point.created_at, point.machine_id, point.machine, point.case_id, point.question),
            *(point.stack, point.apart, point.versions, point.since, len(point.logs)),
            *(point.seconds, *(point.interval or (None, None)), point.ratio),
        )
        for point in points
    ]
    return pl.DataFrame(lines, schema=COLUMNS, orient="row")


def parquet(points: Sequence[Point]) -> bytes:
    table(points).write_parquet(content := io.BytesIO())
    return content.getvalue()


def tables(points: Sequence[Point]) -> list[Table]:
    return [
        Table(f"{series[0].question} on {name}, {machine(series[0])}", HEADS, [*map(texts, series)], ("a step",))
        for group in groups_of(points)
        for name, series in named(group).items()
    ]


def texts(point: Point) -> list[str]:
    """Returns the line of a table: date, set, versions, time of a step, its interval, the change, and what else
    changed."""
    interval = " to ".join(map(units.seconds, point.interval)) if point.interval else units.UNKNOWN
    date, seconds = point.created_at[:16].replace("T", " "), units.seconds(point.seconds)
    return [date, point.set_name, point.versions, seconds, interval, change_text(point), point.since]


def called(point: Point) -> str:
    """Returns the stack, and in what its series differs from the first one of the same case."""
    return f"{point.stack} ({point.apart})" if point.apart else point.stack


def machine(point: Point) -> str:
    return f"{point.machine} ({point.machine_id[:8]})"


def change_text(point: Point) -> str:
    """Returns text like `1.10× slower`; empty if nothing changed."""
    if point.ratio is None:
        return ""
    return f"{units.ratio(point.ratio)} faster" if point.ratio > 1 else f"{units.ratio(1 / point.ratio)} slower"


def series_of(points: Sequence[Point]) -> list[list[Point]]:
    """Returns the points of each case on each machine, oldest set first."""
    return [[*group] for _, group in groupby(points, key=lambda point: point.series)]


def groups_of(points: Sequence[Point]) -> list[list[list[Point]]]:
    """Returns the series of each question on each machine, because a line must never join times of two machines."""
    groups: dict[tuple[str, str], list[list[Point]]] = defaultdict(list)
    for series in series_of(points):
        groups[series[0].question, series[0].machine_id].append(series)
    return [groups[key] for key in sorted(groups, key=lambda key: (natural(key[0]), *key[1:]))]


def panels_of(points: Sequence[Point]) -> list[tuple[Figure, list[Point]]]:
    """Returns for each question on each machine its chart and its points by date."""
    return [*map(panel, groups_of(points))]


def panel(group: Sequence[Sequence[Point]]) -> tuple[Figure, list[Point]]:
    """Returns one panel from its series, one line each. The chart has a place for each set."""
    head = group[0][0]
    sets = sorted({(point.created_at, point.set_name) for series in group for point in series})
    places = {name: place for place, (_, name) in enumerate(sets)}
    lines = pl.DataFrame(
        [line(name, point, places) for name, series in named(group).items() for point in series],
        infer_schema_length=None,
    )
    digest = hashlib.sha256(f"{head.question}\n{head.machine_id}".encode()).hexdigest()[:12]
    dates, changed = [date[:10] for date, _ in sets], facts_changed(group, places)
    chart = over_sets(f"h-{digest}", "A step, set by set", dates, lines, changed)
    return chart, sorted(chain.from_iterable(group), key=lambda point: (places[point.set_name], point.stack))


def named(group: Sequence[Sequence[Point]]) -> dict[str, Sequence[Point]]:
    """Returns {name of a line in the chart, and of a table: series}. The name is that of the stack, with what makes it
    another series. If several have the same name, the beginning of the case's id follows, and after its first series
    the number of the series."""
    counts = Counter(called(series[0]) for series in group)
    found: dict[str, Sequence[Point]] = {}
    for head, *rest in group:
        which = head.case_id[:8] + (f", series {head.kind + 1}" if head.kind else "")
        found[called(head) if counts[called(head)] == 1 else f"{called(head)} ({which})"] = [head, *rest]
    return found


def line(name: str, point: Point, places: Mapping[str, int]) -> dict[str, Any]:
    """Returns a point of the history as a line of its chart's table; `places` has the place of each set."""
    low, high = point.interval or (None, None)
    words = f"{point.created_at[:10]}: {units.seconds(point.seconds)} {change_text(point)}".strip()
    return {
        "stack": name,
        "place": places[point.set_name],
        "seconds": point.seconds,
        "seconds_low": low,
        "seconds_high": high,
        "words": "; ".join(filter(None, (words, point.versions, point.since))),
        "change": "" if point.ratio is None else "faster" if point.ratio > 1 else "slower",
    }


def facts_changed(group: Sequence[Sequence[Point]], places: Mapping[str, int]) -> dict[int, str]:
    """Returns {place: words} for each set in which a stack has other versions than in its previous set, or another
    fact differs that is said beside a verdict."""
    words: dict[int, dict[str, None]] = defaultdict(dict)
    for point in chain.from_iterable(group):
        if point.since:
            words[places[point.set_name]][f"{point.stack}: {point.since}"] = None
    return {place: "; ".join(changes) for place, changes in words.items()}


def page(
    title: str, details: str, points: Sequence[Point], links: Mapping[str, str] | None = None, home: str = ""
) -> str:
    """Returns the HTML of a history. `details` say at which size the question is asked, `links` is {set's name: address
    of its page}, `home` the address of the site's index."""
    return filled(
        "site/history.html.j2",
        styles=("style.css", "lines.css"),
        title=title,
        details=details,
        panels=panels_of(points),
        machine=machine,
        links=links or {},
        home=home,
        texts=texts,
        called=called,
    )
