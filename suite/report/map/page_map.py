"""The map of one result set over one baseline, by one metric."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean

from suite import units
from suite.report.map.cells import SIGNS, STATES, Square, mean_square
from suite.report.map.metrics import STEADY, Metric, square
from suite.report.sections.labels import compared_stacks, comparison_anchor, panel_anchor
from suite.report.sections.timed.headlines import standing_in
from suite.results.analysis import Analysis, Comparison
from suite.results.cases.rebased import means_where
from suite.results.speedup.geometric_means import Summary

FILTERS = ("pass", "precision")


@dataclass(frozen=True, slots=True)
class MapRow:
    """One question over all columns. `values` has the question's pass and precision; `note` says which stack stands in
    for the baseline."""

    name: str
    anchor: str
    squares: tuple[Square, ...]
    values: Mapping[str, str] = field(default_factory=dict)
    note: str = ""


@dataclass(frozen=True, slots=True)
class Map:
    """Questions down, `columns` across. `means` is the row on top; empty without means. The cells of a `plain` map
    are text in few elements, since a large map has so many cells that elements slow the browser down. `ends` are the
    words at the two ends of the scale of colours."""

    caption: str
    columns: tuple[str, ...]
    means: tuple[Square, ...]
    rows: tuple[MapRow, ...]
    plain: bool = False
    ends: tuple[str, str] = STEADY.ends

    @property
    def states(self) -> tuple[tuple[str, str, str], ...]:
        """Returns (kind, sign, words) of the states that some cell is in, for the legend."""
        seen = {square.kind for row in self.rows for square in row.squares}
        return tuple((kind, sign, words) for kind, (sign, words) in STATES.items() if kind in seen and words)


def ranked_stacks(analysis: Analysis) -> tuple[str, ...]:
    """Returns all stacks, baseline included, the greatest geometric mean over the common questions first. Stacks
    without this mean come last, in the catalogue's order: those with a mean over their own questions, then the
    others."""
    means = {line.stack: line.common.value for line in analysis.summaries if line.common}
    means |= {analysis.baseline: 1.0} if means else {}
    own_means = {line.stack: line.ratio.value for line in analysis.summaries if line.ratio}
    order = {stack: place for place, stack in enumerate(compared_stacks(analysis))}
    return tuple(
        sorted(
            order, key=lambda stack: (stack not in means, -means.get(stack, 0.0), stack not in own_means, order[stack])
        )
    )


def map_over(
    analysis: Analysis,
    metric: Metric,
    stacks: Sequence[str],
    leaders: Sequence[Collection[str]],
    *,
    linked: bool = True,
) -> Map:
    """Returns the map of an analysis, which is already over the chosen baseline and by the metric's clock. `leaders`
    has the stacks to frame on each question (suite/report/map/frames.py). Cells are `linked` if the page has
    their panels."""
    rows = tuple(
        map_row(metric, comparison, stacks, leading, linked=linked)
        for comparison, leading in zip(analysis.comparisons, leaders, strict=True)
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
    metric: Metric, comparison: Comparison, stacks: Sequence[str], leading: Collection[str], *, linked: bool
) -> MapRow:
    """Returns the row of one question."""
    cells = {cell.stack: cell for cell in comparison.cells}
    squares = []
    for stack in stacks:
        cell = square(metric, comparison, cells.get(stack), panel_anchor(comparison, stack) if linked else "")
        leads = stack in leading and cell.kind in SIGNS  # a verdict or the baseline
        squares.append(replace(cell, leads=leads))
    return MapRow(
        name=comparison.name,
        anchor=comparison_anchor(comparison),
        squares=tuple(squares),
        values={name: comparison.head.text(name) for name in FILTERS},
        note=standing_in(comparison),
    )


def mean_squares(
    analysis: Analysis, metric: Metric, stacks: Sequence[str], fields: Mapping[str, str] | None = None
) -> tuple[Square, ...]:
    """Returns the map's top row: each stack's geometric mean over the questions that all stacks answered (for memory:
    in which all stacks have a peak), and how many of the stack's questions these are. With `fields`, only the questions
    whose columns have these values count. Empty if fewer than two questions are left, and for a metric without a mean.
    """
    if metric.clock:
        lines = means_where(analysis, fields) if fields else analysis.summaries
        if max((line.n_common for line in lines), default=0) < 2:
            return ()
        by_stack = {line.stack: line for line in lines}
        return tuple(summary_square(by_stack.get(stack), stack, analysis) for stack in stacks)
    if metric.name == "memory":
        return memory_means(analysis, stacks, fields or {})
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


def memory_means(analysis: Analysis, stacks: Sequence[str], fields: Mapping[str, str]) -> tuple[Square, ...]:
    """Returns the geometric means of peak memory over the questions in which every stack has a peak. A stack that has a
    peak in no question at all is left out of this rule, and has no mean. Empty if fewer than two questions are left."""
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
    common = [of_question for of_question in peaks if known and known <= of_question.keys()]
    if len(common) < 2:
        return ()
    return tuple(memory_mean(stack, common, analysis.baseline, len(chosen)) for stack in stacks)


def memory_mean(stack: str, common: Sequence[Mapping[str, float]], baseline: str, questions: int) -> Square:
    """Returns the geometric mean of one stack's memory, baseline over stack, over the `common` questions."""
    if stack == baseline:
        return Square("baseline", "1×", "the baseline", f"{stack}: the baseline")
    if not common or stack not in common[0] or baseline not in common[0]:
        return Square("mean", units.UNKNOWN)
    mean = math.exp(fmean(math.log(peaks[baseline] / peaks[stack]) for peaks in common))
    counted = f"{len(common)}\N{NO-BREAK SPACE}of\N{NO-BREAK SPACE}{questions}"
    return Square("mean", units.ratio(mean), counted, f"{stack}: geometric mean over {counted} questions")
