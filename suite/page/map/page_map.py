"""The map of one result set over one baseline, by one metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from suite.page.map.cells import NOTHING, STATES, Square
from suite.page.map.means import MeanRow, mean_rows
from suite.page.map.metrics import STEADY, Metric, square
from suite.page.sections.labels import comparison_anchor, panel_anchor
from suite.page.sections.timed.headlines import standing_in
from suite.results.analysis import Analysis, Comparison
from suite.verdicts.names import measured_at

FILTERS = ("pass", "precision")


@dataclass(frozen=True, slots=True)
class MapRow:
    """One question over all columns. `values` has the question's pass and precision, `measured_at` its size and dims;
    `note` says which stack is in the baseline's place. `folded` are cells of stacks without a column."""

    name: str
    anchor: str
    squares: tuple[Square, ...]
    values: Mapping[str, str] = field(default_factory=dict)
    note: str = ""
    measured_at: str = ""
    folded: tuple[tuple[str, Square], ...] = ()


@dataclass(frozen=True, slots=True)
class Map:
    """Questions down, `columns` across: `jax_jit`, or `jax_jit:scan` for an implementation, of which each has a line
    under its question. `means` are the rows on top. The cells of a `plain` map
    are text in few elements, since a large map has so many cells that elements slow the browser down. `ends` are the
    words at the two ends of the scale of colours."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[MapRow, ...]
    means: tuple[MeanRow, ...] = ()
    plain: bool = False
    ends: tuple[str, str] = STEADY.ends

    @property
    def stacks(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(column.partition(":")[0] for column in self.columns))

    @property
    def implementations(self) -> tuple[str, ...]:
        """The names of all implementations; that of a stack without is empty."""
        return tuple(dict.fromkeys(column.partition(":")[2] for column in self.columns))

    def lines(self, squares: Sequence[Square]) -> list[tuple[str, list[tuple[str, Square]]]]:
        """Returns the lines of a question: for each implementation that was asked of some stack its name, and (column,
        cell) of every stack. An empty column stands for what a stack doesn't have."""
        cells = dict(zip(self.columns, squares, strict=True))
        lines: dict[str, list[tuple[str, Square]]] = {}
        for name in self.implementations:
            columns = [f"{stack}:{name}".rstrip(":") for stack in self.stacks]
            lines[name] = [
                (column, cells[column]) if column in cells else (stack, NOTHING)
                for column, stack in zip(columns, self.stacks, strict=True)
            ]
        asked = [name for name, line in lines.items() if any(cell.kind != NOTHING.kind for _, cell in line)]
        return [(name, lines[name]) for name in asked or self.implementations[:1]]

    @property
    def no_means(self) -> tuple[MeanRow, ...]:
        """The top row of a map without means, which another choice may fill."""
        return (MeanRow("", (Square("mean", ""),) * len(self.columns)),)

    @property
    def chips(self) -> tuple[str, ...]:
        """What a reader can hide: the stacks, and where there are several the implementations (`:scan`)."""
        named = [f":{name}" for name in self.implementations if name]
        return (*self.stacks, *(named if len(named) > 1 else ()))

    @property
    def states(self) -> tuple[tuple[str, str, str], ...]:
        """(kind, sign, words) of the states that some cell is in, for the legend."""
        seen = {square.kind for row in self.rows for square in row.squares}
        return tuple((kind, sign, words) for kind, (sign, words) in STATES.items() if kind in seen and words)


def map_over(analysis: Analysis, metric: Metric, stacks: Sequence[str], *, linked: bool = True) -> Map:
    """Returns the map of an analysis, which is already over the chosen baseline and by the metric's clock. Cells are
    `linked` if the page has their panels."""
    return Map(
        caption=f"{metric.words.capitalize()}, over {analysis.baseline_words}. {metric.explained}",
        columns=tuple(stacks),
        rows=tuple(map_row(metric, each, stacks, analysis, linked=linked) for each in analysis.comparisons),
        means=mean_rows(analysis, metric, stacks),
        plain=not linked,
        ends=metric.ends,
    )


def map_row(
    metric: Metric, comparison: Comparison, stacks: Sequence[str], analysis: Analysis, *, linked: bool
) -> MapRow:
    cases = {case.stack: case for case in comparison.cases}
    decided = analysis.is_decided
    squares = {stack: square(metric, comparison, cases.get(stack), is_decided=decided) for stack in stacks}
    return MapRow(
        name=comparison.name,
        anchor=comparison_anchor(comparison),
        squares=tuple(
            replace(shown, href=panel_anchor(comparison, stack)) if linked and stack in cases else shown
            for stack, shown in squares.items()
        ),
        values={name: comparison.head.text(name) for name in FILTERS},
        note=standing_in(comparison) or counterpart_words(comparison, analysis.baseline),
        measured_at=measured_at(comparison.head),
    )


def counterpart_words(comparison: Comparison, baseline: str) -> str:
    """Names the baseline of a question that has the chosen one's counterpart; empty where it has the chosen one."""
    return "" if comparison.baseline == baseline else f"Baseline: {comparison.baseline}."
