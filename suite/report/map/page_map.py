"""The map of one result set over one baseline, by one metric."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean

from suite import units
from suite.report.map.cells import SIGNS, STATES, Square, mean_square
from suite.report.map.frames import Behind, leaders
from suite.report.map.metrics import STEADY, Metric, square
from suite.report.sections.labels import comparison_anchor, panel_anchor
from suite.report.sections.timed.headlines import standing_in
from suite.results.analysis import Analysis, Comparison
from suite.results.cases.rebased import means_where
from suite.results.names import measured_at
from suite.results.speedup.geometric_means import Summary

FILTERS = ("pass", "precision")
ANSWERED = {*SIGNS} - {"mean"} | {"measured"}  # kinds of cells that a geometric mean counts
NOTHING = Square("unplanned", "")  # the cell of what wasn't asked
COMMONS_MOST = 24  # of a map's sets of common questions


@dataclass(frozen=True, slots=True)
class MapRow:
    """One question over all columns. `values` has the question's pass and precision, `measured_at` its size and dims;
    `note` says which stack stands in for the baseline."""

    name: str
    anchor: str
    squares: tuple[Square, ...]
    values: Mapping[str, str] = field(default_factory=dict)
    note: str = ""
    measured_at: str = ""


@dataclass(frozen=True, slots=True)
class Map:
    """Questions down, `columns` across: `jax_jit`, or `jax_jit:scan` for an implementation, of which each has a line
    under its question. `means` is the row on top; empty without means. The cells of a `plain` map
    are text in few elements, since a large map has so many cells that elements slow the browser down. `ends` are the
    words at the two ends of the scale of colours."""

    caption: str
    columns: tuple[str, ...]
    means: tuple[Square, ...]
    rows: tuple[MapRow, ...]
    plain: bool = False
    ends: tuple[str, str] = STEADY.ends

    @property
    def stacks(self) -> tuple[str, ...]:
        """Returns the columns without their implementations."""
        return tuple(dict.fromkeys(column.partition(":")[0] for column in self.columns))

    @property
    def implementations(self) -> tuple[str, ...]:
        """Returns the names of all implementations; that of a stack without is empty."""
        return tuple(dict.fromkeys(column.partition(":")[2] for column in self.columns))

    def lines(self, squares: Sequence[Square]) -> list[tuple[str, list[tuple[str, Square]]]]:
        """Returns the lines of a question: for each implementation that was asked of some stack its name, and (column,
        cell) of every stack. An empty column stands for what a stack doesn't have."""
        cells = dict(zip(self.columns, squares, strict=True))
        named = {
            name: [(f"{stack}:{name}".rstrip(":"), stack) for stack in self.stacks] for name in self.implementations
        }
        asked = [
            name for name, line in named.items() if any(cells.get(column, NOTHING) != NOTHING for column, _ in line)
        ]
        return [
            (name, [(column, cells[column]) if column in cells else (stack, NOTHING) for column, stack in named[name]])
            for name in asked or self.implementations[:1]
        ]

    @property
    def no_means(self) -> tuple[Square, ...]:
        """Returns the top row of a map without means, which another choice may fill."""
        return (Square("mean", ""),) * len(self.columns)

    @property
    def chips(self) -> tuple[str, ...]:
        """Returns what a reader can hide: the stacks, and where there are several the implementations (`:scan`)."""
        named = [f":{name}" for name in self.implementations if name]
        return (*self.stacks, *(named if len(named) > 1 else ()))

    @property
    def states(self) -> tuple[tuple[str, str, str], ...]:
        """Returns (kind, sign, words) of the states that some cell is in, for the legend."""
        seen = {square.kind for row in self.rows for square in row.squares}
        return tuple((kind, sign, words) for kind, (sign, words) in STATES.items() if kind in seen and words)


def map_over(
    analysis: Analysis, metric: Metric, stacks: Sequence[str], pairs: Sequence[Behind] = (), *, linked: bool = True
) -> Map:
    """Returns the map of an analysis, which is already over the chosen baseline and by the metric's clock. `pairs` says
    for each question which stacks are shown to be slower than which, so that its leaders are framed; without it nobody
    is. Cells are `linked` if the page has their panels."""
    rows = tuple(
        map_row(metric, comparison, stacks, pairs[place] if pairs else None, linked=linked)
        for place, comparison in enumerate(analysis.comparisons)
    )
    return Map(
        caption=f"{metric.words.capitalize()}, over {analysis.baseline}. {metric.explained}",
        columns=tuple(stacks),
        means=mean_squares(analysis, metric, stacks),
        rows=rows,
        plain=not linked,
        ends=metric.ends,
    )


def map_row(
    metric: Metric, comparison: Comparison, stacks: Sequence[str], behind: Behind | None, *, linked: bool
) -> MapRow:
    """Returns the row of one question; with `behind`, those of its stacks that lead are framed."""
    cells = {cell.stack: cell for cell in comparison.cells}
    anchors = [panel_anchor(comparison, stack) if linked else "" for stack in stacks]
    squares = [square(metric, comparison, cells.get(stack), at) for stack, at in zip(stacks, anchors, strict=True)]
    judged = {stack for stack, cell in zip(stacks, squares, strict=True) if cell.kind in SIGNS}  # or the baseline
    leading = set() if behind is None else leaders(judged, behind)
    return MapRow(
        name=comparison.name,
        anchor=comparison_anchor(comparison),
        squares=tuple(replace(cell, leads=stack in leading) for stack, cell in zip(stacks, squares, strict=True)),
        values={name: comparison.head.text(name) for name in FILTERS},
        note=standing_in(comparison),
        measured_at=measured_at(comparison.head),
    )


def commons(shown: Map, fields: Mapping[str, str]) -> list[tuple[int, ...]]:
    """Returns the places of the questions that all stacks answered, and likewise for every part of the stacks that a
    reader can leave on the map, without repetition; at most `COMMONS_MOST`. `fields` says which questions count."""
    places = [n for n, row in enumerate(shown.rows) if fields.items() <= row.values.items()]
    of_stack = [
        frozenset(n for n in places if shown.rows[n].squares[column].kind in ANSWERED)
        for column in range(len(shown.columns))
    ]
    found: dict[frozenset[int], None] = {}
    for answered in filter(None, of_stack):
        found |= dict.fromkeys([answered, *(answered & other for other in found)])
    every = frozenset.intersection(*filter(None, of_stack)) if any(of_stack) else frozenset[int]()
    return [tuple(sorted(common)) for common in [every, *(found.keys() - {every})][:COMMONS_MOST]]


def mean_squares(
    analysis: Analysis,
    metric: Metric,
    stacks: Sequence[str],
    fields: Mapping[str, str] | None = None,
    common: Sequence[int] | None = None,
) -> tuple[Square, ...]:
    """Returns the map's top row: each stack's geometric mean over the questions that all stacks answered (for memory:
    in which all stacks have a peak), and how many of the stack's questions these are. With `fields`, only the questions
    whose columns have these values count; with `common`, the mean is over the questions of these places, of the stacks
    that answered them all. Empty if fewer than two questions are left, and for a metric without a mean.
    """
    ids = None if common is None else {analysis.comparisons[place].id for place in common}
    if metric.clock:
        lines = means_where(analysis, fields or {}, ids) if fields or ids is not None else analysis.summaries
        if max((line.n_common for line in lines), default=0) < 2:
            return ()
        by_stack = {line.stack: line for line in lines}
        return tuple(summary_square(by_stack.get(stack), stack, analysis) for stack in stacks)
    if metric.name == "memory":
        return memory_means(analysis, stacks, fields or {}, ids)
    return ()


def summary_square(line: Summary | None, stack: str, analysis: Analysis) -> Square:
    """Returns one stack's cell of the top row."""
    if stack == analysis.baseline:
        return Square("baseline", "1×", "the baseline", f"{stack}: the baseline")
    if line is None:
        return Square("mean", units.UNKNOWN)
    counted = f"{line.n_common}\N{NO-BREAK SPACE}of\N{NO-BREAK SPACE}{line.n}"
    over = f"over the {counted} questions that every stack answered; it answered {line.n_ok}"
    return mean_square(line.common, counted, f"{stack}: geometric mean {over}")


def memory_means(
    analysis: Analysis, stacks: Sequence[str], fields: Mapping[str, str], ids: Collection[str] | None
) -> tuple[Square, ...]:
    """Returns the geometric means of peak memory over the questions in which every stack has a peak, or over those of
    `ids`. A stack that has a peak in no question at all is left out of this rule, and has no mean. Empty if fewer than
    two questions are left."""
    chosen = [
        comparison
        for comparison in analysis.comparisons
        if all(comparison.head.text(name) == value for name, value in fields.items())
    ]
    peaks = [
        {stack.stack: stack.peak_bytes for stack in comparison.stacks if stack.counts and stack.peak_bytes}
        for comparison in chosen
    ]
    known = {stack for of_question in peaks for stack in of_question}
    common = [
        of_question
        for comparison, of_question in zip(chosen, peaks, strict=True)
        if (known and known <= of_question.keys() if ids is None else comparison.id in ids)
    ]
    if len(common) < 2:
        return ()
    return tuple(memory_mean(stack, common, analysis.baseline, len(chosen)) for stack in stacks)


def memory_mean(stack: str, common: Sequence[Mapping[str, float]], baseline: str, questions: int) -> Square:
    """Returns the geometric mean of one stack's memory, baseline over stack, over the `common` questions."""
    if stack == baseline:
        return Square("baseline", "1×", "the baseline", f"{stack}: the baseline")
    if not all(peaks.keys() >= {stack, baseline} for peaks in common):
        return Square("mean", units.UNKNOWN)
    mean = math.exp(fmean(math.log(peaks[baseline] / peaks[stack]) for peaks in common))
    counted = f"{len(common)}\N{NO-BREAK SPACE}of\N{NO-BREAK SPACE}{questions}"
    return Square("mean", units.ratio(mean), counted, f"{stack}: geometric mean over {counted} questions")
