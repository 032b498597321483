"""The top rows of a map: each stack's geometric mean over all questions, and over those of each track, number of
cores, pass and precision. A stack that lacks a question has no mean there, and says how many it answered."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from suite import units
from suite.page.map.cells import Square, colour
from suite.page.map.metrics import Metric
from suite.results.analysis import Analysis, is_of
from suite.results.means import group_words
from suite.stats import Estimate


@dataclass(frozen=True, slots=True)
class MeanRow:
    """One row of means; `over` says which questions they are over."""

    over: str
    squares: tuple[Square, ...]


def mean_rows(
    analysis: Analysis, metric: Metric, stacks: Sequence[str], fields: Mapping[str, str] | None = None
) -> tuple[MeanRow, ...]:
    """Returns the rows over the questions whose columns have the values of `fields`; none for a metric without means,
    and where fewer than two questions are left."""
    chosen = dict(fields or {})
    rows = (mean_row(analysis, metric, stacks, chosen | group) for group in analysis.groups(chosen))
    return tuple(row for row in rows if row)


def mean_row(analysis: Analysis, metric: Metric, stacks: Sequence[str], fields: Mapping[str, str]) -> MeanRow | None:
    asked = sum(is_of(each.head, fields) for each in analysis.all_comparisons)
    if metric.clock:
        found = analysis.means(fields)
        lines, n = {line.stack: (line.ratio, line.n_ok) for line in found}, found[0].n if found else 0
    elif metric.name == "memory":
        lines, n = memory_means(analysis, fields)
    else:
        return None
    if n < 2:
        return None
    own = Square("baseline", "1×", "the baseline", f"{analysis.baseline}: the baseline")
    squares = {stack: mean_square(stack, mean, some, n) for stack, (mean, some) in lines.items()}
    missing = f" of {asked}" if n < asked else ""
    return MeanRow(
        f"{group_words(analysis, fields)}: {n}{missing}",
        tuple((squares | {analysis.baseline: own}).get(stack, Square("mean", units.UNKNOWN)) for stack in stacks),
    )


def mean_square(stack: str, mean: Estimate | None, answered: int, of: int) -> Square:
    """Returns the cell of a geometric mean, which has no verdict: it has a colour where its interval excludes 1×."""
    if mean is None or answered < of:
        count = of_questions(answered, of)
        return Square("mean", units.UNKNOWN, count, f"{stack}: no mean, it answered {count} questions")
    interval = units.interval(mean.low, mean.high)
    shade = colour(mean.value) if interval and not (mean.low or 0) <= 1 <= (mean.high or 0) else ""
    size = units.ratio(mean.value, mean.low, mean.high)
    return Square("mean", size, interval, f"{stack}: geometric mean over {of} questions", shade)


def memory_means(analysis: Analysis, fields: Mapping[str, str]) -> tuple[dict[str, tuple[Estimate | None, int]], int]:
    """Returns {stack: (geometric mean of the baseline's peak memory over its own, in how many questions)}, and in how
    many the baseline and some other stack have a peak."""
    peaks = [
        {stack.stack: stack.peak_bytes for stack in each.counting if stack.peak_bytes}
        for each in analysis.comparisons
        if is_of(each.head, fields)
    ]
    known = [of for of in peaks if analysis.baseline in of and len(of) > 1]
    logs = {
        stack: [math.log(of[analysis.baseline] / of[stack]) for of in known if stack in of]
        for stack in sorted({stack for of in known for stack in of})
    }
    return {stack: (Estimate(math.exp(fmean(of))), len(of)) for stack, of in logs.items()}, len(known)


def of_questions(some: int, of: int) -> str:
    """Returns `6 of 8`, in one piece."""
    return f"{some}\N{NO-BREAK SPACE}of\N{NO-BREAK SPACE}{of}"
