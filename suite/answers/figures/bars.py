"""Stacked bars: a peak of memory by its parts, or the time of a step by categories, with a bar for each stack."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import polars as pl

from suite.answers.figures.axes import LinearAxis
from suite.answers.figures.figure import Figure
from suite.results.questions.memory_parts import Parts
from suite.units import Unit

KINDS = {
    "base": "Python and framework alone",
    "placing": "added by placing weights and inputs",
    "stepping": "added by running steps",
    "ended": "in processes that had ended, such as compilers",
    "device": "in use on the device",
}
FLOOR = "the floor, what every stack must hold"


def bars(
    id_: str,
    title: str,
    stacks: Sequence[tuple[str, Parts]],
    kinds: Mapping[str, str],
    unit_of: Callable[[Iterable[float]], Unit],
    floor: float = 0.0,
    limit: float | None = None,
) -> Figure | None:
    """Returns stacked bars; None without a stack. `kinds` has the words of each kind of part; `floor` and `limit` are
    lines across all bars."""
    if not stacks:
        return None
    parts = pl.DataFrame(
        [
            (stack, kind, float(size), f"{stack}, {kinds[kind]}: {unit_of([size])(size)}")
            for stack, split in stacks
            for kind, size in split
        ],
        schema=["of", "kind", "size", "title"],
        orient="row",
    ).with_columns(shape=pl.lit("part"), high=pl.col("size").cum_sum().over("of"))
    wholes = [sum(size for _, size in split) for _, split in stacks]
    axis = LinearAxis.over([*wholes, floor])
    unit = unit_of([axis.high])
    rules = [at for at in (floor, limit) if at and at <= axis.high]
    return Figure(
        id=id_,
        title=title,
        names=[stack for stack, _ in stacks],
        values=[unit_of([whole])(whole) for whole in wholes],
        marks=[
            parts.with_columns(low=pl.col("high") - pl.col("size")),
            pl.DataFrame({"x": rules}).with_columns(shape=pl.lit("rule"), kind=pl.lit("one")),
        ],
        across=axis,
        ticks=axis.ticks(unit),
        label=f"{unit.name}; line: {FLOOR}" if floor else unit.name,
        legend=[("part", kind, words) for kind, words in kinds.items() if kind in parts["kind"].to_list()],
    )
