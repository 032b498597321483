"""The section "Behaviour": a grid for each probe, in which each cell opens what was observed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from statistics import median
from typing import Any

from suite import units
from suite.answers.figures.axes import LogAxis
from suite.answers.figures.curves import CurveChart, curves, marks
from suite.answers.sentences import capital, counted, listed
from suite.report.sections.labels import link_target, subtitle
from suite.report.sections.section import Context, Section
from suite.report.tables import Table, Value
from suite.results.analysis import Analysis
from suite.results.questions.behaviour import Aspect, Behaviour, Figure, ProbeAnswer

SCALES = ("depths", "sizes")  # figures that a chart has across; the figure `seconds` has a time for each value of them
SHOWN = ("depth", "per_op", "seconds", "factor", "share")  # the grid shows the first of these figures that a cell has


@dataclass(frozen=True, slots=True)
class GridCell:
    """What was observed of one aspect on one stack: `tag` is its colour, `figure` the text in the grid, and `figures`
    are (name, text)."""

    anchor: str
    stack: str
    answer: ProbeAnswer
    tag: str
    figure: str
    figures: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class GridRow:
    """One aspect over all stacks."""

    aspect: Aspect
    cells: tuple[GridCell, ...]

    @property
    def odd(self) -> str:
        """Returns the stack that differs from all others, if these agree; empty without such a stack, or where fewer
        than three stacks were observed."""
        classes = Counter(cell.answer.class_ for cell in self.cells)
        if len(classes) != 2 or len(self.cells) < 3:
            return ""
        alone = {class_ for class_, number in classes.items() if number == 1}
        return next((cell.stack for cell in self.cells if cell.answer.class_ in alone), "")


@dataclass(frozen=True, slots=True)
class BehaviourView:
    """A probe's grid, and the times of its aspects over a size. `lines` have the grid in words: (aspect, its classes
    with their stacks). `otherwise` counts the cells that differ from their framework's documentation."""

    behaviour: Behaviour
    anchor: str
    subtitle: str
    rows: tuple[GridRow, ...]
    charts: tuple[CurveChart, ...]
    lines: tuple[tuple[str, str], ...]
    otherwise: int


@dataclass(frozen=True, slots=True)
class BehaviourSection(Section):
    """The probes, by name."""

    views: tuple[BehaviourView, ...]

    name = "behaviour"
    nav = "Behaviour"
    key = "behaviour"
    topic = "how the stacks behave"
    terms = ("behaviour",)

    @classmethod
    def of(cls, context: Context) -> BehaviourSection | None:
        """Returns the section; None without a probe."""
        views = tuple(map(behaviour_view, context.analysis.behaviour))
        return cls(views) if views else None

    @property
    def answer(self) -> str:
        """Returns in how many aspects one stack alone differs and which stacks these are, and how many cells differ
        from the documentation."""
        aspects = [row for view in self.views for row in view.rows]
        odd = Counter(row.odd for row in aspects if row.odd)
        stacks = listed([f"{stack} {number}" for stack, number in odd.most_common()])
        alone = f"in {sum(odd.values())} of {counted(len(aspects), 'aspect')} one stack alone differs ({stacks})"
        same = f"in none of {counted(len(aspects), 'aspect')} one stack alone differs"
        otherwise = sum(view.otherwise for view in self.views)
        documented = f"; {counted(otherwise, 'cell')} not as documented" if otherwise else ""
        return f"{capital(alone if odd else same)}{documented}."

    @classmethod
    def names(cls, analysis: Analysis) -> Mapping[str, str]:
        """Returns the names of the probes."""
        return {probe.id: probe.name for probe in analysis.behaviour}

    def tables(self) -> Sequence[Table]:
        """Returns each probe with the classes of its aspects."""
        return [Table(view.behaviour.title, ("aspect", "observed"), view.lines) for view in self.views]

    def console(self) -> Sequence[Table]:
        """Returns the same tables, with the number of cells that aren't as documented."""
        return [
            Table(
                view.behaviour.title,
                ("aspect", "observed"),
                view.lines,
                after=[f"Cells that differ from the framework's documentation: {view.otherwise}; the page shows both."]
                * bool(view.otherwise),
            )
            for view in self.views
        ]

    def lines(self) -> Iterable[Mapping[str, Value]]:
        """Returns a line for each aspect and stack, with the class in place of a verdict."""
        for view in self.views:
            probe = view.behaviour
            for aspect in probe.aspects:
                for stack, answer in sorted(aspect.answers.items()):
                    outcome, reason = probe.without.get(stack, ("ok", ""))
                    yield {
                        "question": f"{probe.name}: {aspect.title}",
                        "stack": stack,
                        "purpose": "probe",
                        "outcome": outcome,
                        "reason": reason,
                        "ok": int(outcome == "ok"),
                        "planned": 1,
                        "verdict": answer.class_,
                        "verdict_reason": answer.words or None,
                    }

    def data(self) -> list[Any]:
        """Returns each probe with what was observed, aspect by aspect and stack by stack."""
        return [behaviour_json(view.behaviour) for view in self.views]


def behaviour_view(probe: Behaviour) -> BehaviourView:
    """Returns the view of one probe."""
    anchor = link_target("b", probe.name, probe.id)
    rows = tuple(
        GridRow(
            aspect,
            tuple(grid_cell(f"{anchor}-{aspect.name}-{stack}", stack, aspect.answers[stack]) for stack in probe.stacks),
        )
        for aspect in probe.aspects
    )
    return BehaviourView(
        behaviour=probe,
        anchor=anchor,
        subtitle=subtitle(probe.head),
        rows=rows,
        charts=tuple(filter(None, (chart(aspect, f"{anchor}-{aspect.name}-times") for aspect in probe.aspects))),
        lines=tuple((aspect.title, by_class(aspect)) for aspect in probe.aspects),
        otherwise=sum(cell.answer.is_otherwise for row in rows for cell in row.cells),
    )


def by_class(aspect: Aspect) -> str:
    """Returns `reuses (jax_jit, tf_graph); interprets (numpy)`."""
    stacks: dict[str, list[str]] = {}
    for stack, answer in sorted(aspect.answers.items()):
        stacks.setdefault(answer.class_, []).append(stack)
    return "; ".join(f"{class_} ({', '.join(names)})" for class_, names in stacks.items())


def chart(aspect: Aspect, id_: str) -> CurveChart | None:
    """Returns the chart of an aspect's times over a size, a line for each stack, on logarithmic axes; None where no
    stack was timed over sizes."""
    times = {
        stack: [*zip(scale, answer.figure("seconds"), strict=True)]
        for stack, answer in sorted(aspect.answers.items())
        for name in SCALES
        if (scale := answer.figure(name))
    }
    if not times:
        return None
    across = LogAxis.over([size for points in times.values() for size, _ in points])
    up = LogAxis.over([seconds for points in times.values() for _, seconds in points])
    unit = units.time_unit([up.high])
    points = {
        stack: [(size, seconds, f"{stack}, {size:,.0f}: {units.seconds(seconds)}") for size, seconds in of_stack]
        for stack, of_stack in times.items()
    }
    words = {stack: "; ".join(text for *_, text in of_stack) for stack, of_stack in points.items()}
    return CurveChart(
        id=id_,
        title=f"{aspect.title}, in {unit.name}",
        across_label="size, log scale; time on a log scale, too",
        across=across.ticks(),
        up=up.ticks(unit),
        curves=curves({stack: (of_stack, words[stack]) for stack, of_stack in times.items()}, across, up),
        marks=marks(chain.from_iterable(points.values()), across, up),
    )


def grid_cell(anchor: str, stack: str, answer: ProbeAnswer) -> GridCell:
    """Returns the cell of one aspect on one stack."""
    tag = "bad" if answer.class_ in ("error", "crashed", "timeout") else "plain"
    tag = "warn" if answer.is_otherwise or answer.class_.startswith("raises") else tag
    in_grid = next((figure for name in SHOWN for figure in answer.figures if figure.name == name), None)
    figures = tuple((figure.name.replace("_", " "), figure_words(figure)) for figure in answer.figures)
    return GridCell(anchor, stack, answer, tag, middle_words(in_grid) if in_grid else "", figures)


def middle_words(figure: Figure) -> str:
    """Returns the median of a figure's values in words: `12.3 ms`."""
    return in_words(median(figure.values), unit_of(figure))


def figure_words(figure: Figure) -> str:
    """Returns `12.3 ms`; for several values the median, least and greatest: `12.3 ms (11.9 to 14.0 ms, 5 samples)`."""
    middle = middle_words(figure)
    if len(figure.values) == 1:
        return middle
    low, high = (in_words(value, unit_of(figure)) for value in (min(figure.values), max(figure.values)))
    return f"{middle} ({low} to {high}, {len(figure.values)} samples)"


def unit_of(figure: Figure) -> str:
    """Returns the unit that the page shows: a factor has ×, so that nobody takes it for a count."""
    return "×" if figure.name == "factor" else figure.unit


def in_words(value: float, unit: str) -> str:
    """Returns a value in its unit: `12.3 ms`, `301 B`, `1,024`, `3.21×`."""
    if unit == "s":
        return units.seconds(value)
    if unit == "bytes":
        return units.quantity(value)
    if unit == "count" and value == int(value):
        return f"{value:,.0f}"
    if unit == "×":
        return f"{units.digits(value)}×"
    return units.digits(value) if unit in ("count", "1") else f"{units.digits(value)} {unit}"


def behaviour_json(probe: Behaviour) -> dict[str, Any]:
    """Returns one probe for JSON."""
    return {
        "name": probe.name,
        "title": probe.title,
        "aspects": [
            {
                "aspect": aspect.name,
                "title": aspect.title,
                "stacks": [answer_json(stack, answer) for stack, answer in sorted(aspect.answers.items())],
            }
            for aspect in probe.aspects
        ],
    }


def answer_json(stack: str, answer: ProbeAnswer) -> dict[str, Any]:
    """Returns what was observed of one aspect on one stack, for JSON."""
    return {
        "stack": stack,
        "class": answer.class_,
        "words": answer.words or None,
        "documented": answer.documented and answer.documented.class_,
        "primer": answer.primer and answer.primer.class_,
        "figures": {figure.name: {"unit": figure.unit, "values": list(figure.values)} for figure in answer.figures},
    }
