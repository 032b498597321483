"""Lines over sets: one measured time, set by set, with a line for each stack, on a log axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from suite import units
from suite.answers.figures.axes import LogAxis, Places
from suite.answers.figures.figure import SHAPES, Figure, looks_of

CHANGES = {"slower": "became slower", "faster": "became faster"}


def over_sets(id_: str, title: str, dates: Sequence[str], table: pl.DataFrame, events: Mapping[int, str]) -> Figure:
    """Returns the figure of each stack's times. `dates` names the places from left to right, oldest first. The `table`
    has for each time its stack, the number of its place (0 is the first), seconds with their interval, words that a
    reader's pointer shows, and how it changed: `faster`, `slower` or nothing. `events` has for a place the words on the
    versions that changed just before it."""
    ends = ("seconds", "seconds_low", "seconds_high")
    across, up = Places(dates), LogAxis.over(pl.concat([table[end].drop_nulls() for end in ends]))
    unit = units.time_unit(table["seconds"])
    names = table["stack"].unique(maintain_order=True).to_list()
    signs = {name: f"dot s{look % SHAPES}" for name, look in looks_of(names).items()}
    points = table.select(
        of="stack", x="place", y="seconds", low="seconds_low", high="seconds_high", change="change",
        kind=pl.col("stack").replace_strict(signs), title=pl.col("stack") + ", " + pl.col("words"),
    )  # fmt: skip
    last = table.group_by("stack", maintain_order=True).last()["seconds"]
    return Figure(
        id=id_,
        title=title,
        names=names,
        values=[*map(units.seconds, last)],
        marks=[
            pl.DataFrame({"x": [place - 0.5 for place in events], "title": [*events.values()]}).with_columns(
                shape=pl.lit("rule"), kind=pl.lit("event")
            ),
            points.select("of", "x", "y", shape=pl.lit("joined")),
            points.drop_nulls(("low", "high")).with_columns(shape=pl.lit("reach"), title=pl.lit("")),
            points.with_columns(shape=pl.lit("mark")).drop("low", "high"),
            points.filter(pl.col("change") != "").select(
                "of", "x", "y", "title", shape=pl.lit("mark"), kind="changed " + pl.col("change")
            ),
        ],
        across=across,
        ticks=across.ticks(),
        up=up,
        up_ticks=up.ticks(unit),
        up_label=f"{unit.name}, log",
        legend=[
            *(("mark", f"changed {kind}", words) for kind, words in CHANGES.items()),
            *[("rule", "event", "something else changed")] * bool(events),
        ],
    )
