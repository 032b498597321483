"""How stacks behave, as the page shows it: a grid a probe, each cell with what stands behind it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from suite import units
from suite.report.figures.axes import LogAxis, Tick
from suite.report.sections.comparison import link_target, subtitle
from suite.report.sections.memory import Chart
from suite.results.questions.behaviour import Answer, Aspect, Behaviour, Figure

SCALES = ("depths", "sizes")  # figures that others of equal length are drawn against
# Of a cell's figures, the first of these that it has stands in the grid.
SHOWN = ("depth", "per_op", "seconds", "factor", "share")


@dataclass(frozen=True, slots=True)
class GridCell:
    """One answer: `tag` says how it looks, `figures` are (name, text)."""

    anchor: str
    stack: str
    answer: Answer
    tag: str
    figure: str
    figures: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class GridRow:
    """One aspect over all stacks."""

    aspect: Aspect
    cells: tuple[GridCell, ...]


@dataclass(frozen=True, slots=True)
class Curves:
    """Times of one aspect against a size, a chart a stack on the same logarithmic axes."""

    title: str
    charts: tuple[Chart, ...]
    chart_ticks: tuple[tuple[Tick, ...], tuple[Tick, ...]]
    chart_limit: None = None


@dataclass(frozen=True, slots=True)
class BehaviourSection:
    """A probe's grid. `otherwise` counts the cells that aren't as their framework documents; `lines` say the same as
    the grid: of each aspect which stacks are of which class."""

    behaviour: Behaviour
    anchor: str
    subtitle: str
    rows: tuple[GridRow, ...]
    curves: tuple[Curves, ...]
    lines: tuple[tuple[str, str], ...]
    otherwise: int


def behaviour_section(found: Behaviour) -> BehaviourSection:
    """The section of a probe."""
    anchor = link_target("b", found.name, found.id)
    rows = tuple(
        GridRow(
            aspect,
            tuple(grid_cell(f"{anchor}-{aspect.name}-{stack}", stack, aspect.answers[stack]) for stack in found.stacks),
        )
        for aspect in found.aspects
    )
    otherwise = sum(cell.answer.is_otherwise for row in rows for cell in row.cells)
    drawn = tuple(filter(None, map(curves, found.aspects)))
    lines = tuple((aspect.title, by_class(aspect)) for aspect in found.aspects)
    return BehaviourSection(found, anchor, subtitle(found.head), rows, drawn, lines, otherwise)


def by_class(aspect: Aspect) -> str:
    """`reuses (jax_jit, tf_graph); interprets (numpy)`."""
    stacks: dict[str, list[str]] = {}
    for stack, answer in sorted(aspect.answers.items()):
        stacks.setdefault(answer.class_, []).append(stack)
    return "; ".join(f"{class_} ({', '.join(names)})" for class_, names in stacks.items())


def curves(aspect: Aspect) -> Curves | None:
    """The charts of an aspect whose times were taken over sizes; None where they weren't."""
    taken = {
        stack: [*zip(scale, answer.figure("seconds"), strict=True)]
        for stack, answer in sorted(aspect.answers.items())
        for name in SCALES
        if (scale := answer.figure(name))
    }
    if not taken:
        return None
    across = LogAxis.over([size for points in taken.values() for size, _ in points])
    up = LogAxis.over([seconds for points in taken.values() for _, seconds in points])
    unit = units.time_unit([up.high])
    charts = tuple(chart(stack, points, across, up) for stack, points in taken.items())
    return Curves(f"{aspect.title}, in {unit.name}", charts, (across.ticks(), up.ticks(unit)))


def chart(stack: str, points: Sequence[tuple[float, float]], across: LogAxis, up: LogAxis) -> Chart:
    """One stack's times."""
    marks = tuple(
        (across.x(size), up.x(seconds), f"{stack}, {size:,.0f}: {units.seconds(seconds)}") for size, seconds in points
    )
    line = " ".join(f"{x},{round(100 - y, 2)}" for x, y, _ in marks)
    return Chart(stack, marks, line, "; ".join(words for _, _, words in marks))


def grid_cell(anchor: str, stack: str, answer: Answer) -> GridCell:
    """One cell."""
    tag = "bad" if answer.class_ in ("error", "crashed", "timeout") else "plain"
    tag = "warn" if answer.is_otherwise or answer.class_.startswith("raises") else tag
    shown = next((each for name in SHOWN for each in answer.figures if each.name == name), None)
    figures = tuple((each.name.replace("_", " "), figure_words(each)) for each in answer.figures)
    return GridCell(anchor, stack, answer, tag, middle_words(shown) if shown else "", figures)


def middle_words(figure: Figure) -> str:
    """`12.3 ms`, of several values their middle."""
    return shown(median(figure.values), unit_of(figure))


def figure_words(figure: Figure) -> str:
    """`12.3 ms`; of several values their middle, least and greatest: `12.3 ms (11.9 to 14.0 ms, 5 samples)`."""
    middle = middle_words(figure)
    if len(figure.values) == 1:
        return middle
    low, high = (shown(value, unit_of(figure)) for value in (min(figure.values), max(figure.values)))
    return f"{middle} ({low} to {high}, {len(figure.values)} samples)"


def unit_of(figure: Figure) -> str:
    """A factor has a unit on the page, so that it isn't taken for a count."""
    return "×" if figure.name == "factor" else figure.unit


def shown(value: float, unit: str) -> str:
    """One value in its unit."""
    if unit == "s":
        return units.seconds(value)
    if unit == "bytes":
        return units.quantity(value)
    if unit == "count" and value == int(value):
        return f"{value:,.0f}"
    if unit == "×":
        return f"{units.digits(value)}×"
    return units.digits(value) if unit in ("count", "1") else f"{units.digits(value)} {unit}"
