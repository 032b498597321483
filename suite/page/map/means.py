"""The top row of a map: each stack's geometric mean over the questions that all stacks answered."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from statistics import fmean

from suite import units
from suite.page.map.cells import SIGNS, Square, colour
from suite.page.map.metrics import Metric
from suite.results.analysis import Analysis
from suite.results.baselines import means_where
from suite.verdicts.geometric_means import Summary

ANSWERED = {*SIGNS} - {"mean"} | {"measured"}  # kinds of cells that a geometric mean counts
COMMONS_MOST = 24  # of a map's sets of common questions


def commons(columns: Sequence[Sequence[Square]], places: Sequence[int]) -> list[tuple[int, ...]]:
    """Returns those of the questions' `places` that all stacks answered, and likewise for every part of the stacks that
    a reader can leave on the map, without repetition; at most `COMMONS_MOST`. `columns` has the cells of each stack."""
    of_stack = [frozenset(place for place in places if column[place].kind in ANSWERED) for column in columns]
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
    """Returns each stack's geometric mean over the questions that all stacks answered (for memory: in which all stacks
    have a peak), and how many of the stack's questions these are. With `fields`, only the questions whose columns have
    these values count; with `common`, the mean is over the questions of these places, of the stacks that answered them
    all. Empty if fewer than two questions are left, and for a metric without a mean.
    """
    ids = None if common is None else {analysis.comparisons[place].id for place in common}
    if metric.clock:
        lines = means_where(analysis, fields or {}, ids) if fields or ids is not None else analysis.summaries
        by_stack = {line.stack: summary_square(line) for line in lines}
        enough = max((line.n_common for line in lines), default=0) > 1
    elif metric.name == "memory":
        by_stack, enough = memory_means(analysis, fields or {}, ids)
    else:
        return ()
    if not enough:
        return ()
    by_stack[analysis.baseline] = Square("baseline", "1×", "the baseline", f"{analysis.baseline}: the baseline")
    return tuple(by_stack.get(stack, Square("mean", units.UNKNOWN)) for stack in stacks)


def summary_square(line: Summary) -> Square:
    """Returns the cell of a geometric mean of ratios, which has an interval but no verdict: only where the interval
    doesn't contain 1× it has a colour."""
    counted = of_questions(line.n_common, line.n)
    over = f"over the {counted} questions that every stack answered; it answered {line.n_ok}"
    title, mean = f"{line.stack}: geometric mean {over}", line.common
    if mean is None:
        return Square("mean", units.UNKNOWN, counted, title)
    interval = units.interval(mean.low, mean.high)
    shade = colour(mean.value) if interval and not (mean.low or 0) <= 1 <= (mean.high or 0) else ""
    return Square("mean", units.ratio(mean.value, mean.low, mean.high), f"{interval} {counted}".strip(), title, shade)


def memory_means(
    analysis: Analysis, fields: Mapping[str, str], ids: Collection[str] | None
) -> tuple[dict[str, Square], bool]:
    """Returns the geometric means of peak memory, baseline over stack, over the questions in which every stack has a
    peak, or over those of `ids`; and whether these are more than one. A stack that has a peak in no question at all is
    left out of this rule, and has no mean."""
    peaks = {
        comparison.id: {
            stack.stack: stack.peak_bytes for stack in comparison.stacks if stack.counts and stack.peak_bytes
        }
        for comparison in analysis.comparisons
        if all(comparison.head.text(name) == value for name, value in fields.items())
    }
    known = {stack for of in peaks.values() for stack in of}
    common = [of for id_, of in peaks.items() if (known and known <= of.keys() if ids is None else id_ in ids)]
    counted, squares = of_questions(len(common), len(peaks)), {}
    for stack in known:
        if common and all(of.keys() >= {stack, analysis.baseline} for of in common):
            mean = math.exp(fmean(math.log(of[analysis.baseline] / of[stack]) for of in common))
            title = f"{stack}: geometric mean over {counted} questions"
            squares[stack] = Square("mean", units.ratio(mean), counted, title)
    return squares, len(common) > 1


def of_questions(some: int, of: int) -> str:
    """Returns `6 of 8`, in one piece."""
    return f"{some}\N{NO-BREAK SPACE}of\N{NO-BREAK SPACE}{of}"
