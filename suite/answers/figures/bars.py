"""Stacked bars: a peak of memory by its parts, or the time of a step by categories, with a bar for each stack."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from suite import units
from suite.answers.figures.axes import LinearAxis, Tick
from suite.results.questions.memory_parts import Parts, total

KINDS = {
    "base": "Python and framework alone",
    "placing": "added by placing weights and inputs",
    "stepping": "added by running steps",
    "ended": "in processes that had ended, such as compilers",
    "device": "in use on the device",
}
FLOOR = "the floor, what every stack must hold"


@dataclass(frozen=True, slots=True)
class Scale:
    """The quantity of the bars: `unit` chooses the unit of the axis, `words` writes a value."""

    unit: Callable[[Iterable[float]], units.Unit]
    words: Callable[[float], str]


MEMORY = Scale(units.byte_unit, units.quantity)
TIME = Scale(units.time_unit, units.seconds)


@dataclass(frozen=True, slots=True)
class Bar:
    """One stack by its parts: (kind, where the part begins, how wide it is, words), in percent."""

    label: str
    segments: tuple[tuple[str, float, float, str], ...]
    value: str


@dataclass(frozen=True, slots=True)
class Bars:
    """A figure of stacked bars; `floor` and `limit` are lines across all bars, in percent."""

    id: str
    title: str
    description: str
    axis_label: str
    ticks: tuple[Tick, ...]
    rows: tuple[Bar, ...]
    floor: float | None
    limit: float | None
    legend: tuple[tuple[str, str], ...]


def bars(
    id_: str,
    title: str,
    stacks: Sequence[tuple[str, Parts]],
    kinds: Mapping[str, str],
    scale: Scale,
    floor: float = 0.0,
    limit: float | None = None,
) -> Bars | None:
    """Returns stacked bars; None without a stack. `kinds` has the words of each kind of part."""
    if not stacks:
        return None
    axis = LinearAxis.over([total(split) for _, split in stacks] + ([floor] if floor else []))
    unit = scale.unit([axis.high])
    rows = tuple(
        Bar(stack, segments(stack, split, axis, kinds, scale), scale.words(total(split))) for stack, split in stacks
    )
    shown = {kind for _, split in stacks for kind, _ in split}
    return Bars(
        id=id_,
        title=title,
        description="; ".join(words for row in rows for *_, words in row.segments),
        axis_label=f"{unit.name}; line: {FLOOR}" if floor else unit.name,
        ticks=axis.ticks(unit),
        rows=rows,
        floor=axis.percent(floor) if floor else None,
        limit=axis.percent(limit) if limit is not None and limit <= axis.high else None,
        legend=tuple((kind, words) for kind, words in kinds.items() if kind in shown),
    )


def segments(
    stack: str, split: Parts, axis: LinearAxis, kinds: Mapping[str, str], scale: Scale
) -> tuple[tuple[str, float, float, str], ...]:
    """Returns the parts of one stack side by side: (kind, where it begins, how wide it is, words), in percent."""
    placed, begin = [], 0.0
    for kind, size in split:
        x, end = axis.percent(begin), axis.percent(begin + size)
        placed.append((kind, x, round(end - x, 2), f"{stack}, {kinds[kind]}: {scale.words(size)}"))
        begin += size
    return tuple(placed)
