"""Judges a set over a baseline, which a reader of the page chooses; on a question where this baseline has no time that
counts, the fastest stack stands in for it.

The stand-in is chosen by its times and then compared by the same times, which favours it. To make up for that, the
error probability is split over all pairs of the question's stacks (Bonferroni), and geometric means leave these ratios
out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from suite.results.outcomes import Cell
from suite.results.stack_figures import StackFigures
from suite.sets.rows import NOT_RUN, Row
from suite.verdicts.geometric_means import Summary, summaries
from suite.verdicts.pairing import Side
from suite.verdicts.speedups import Pairing
from suite.verdicts.verdicts import Speedup

if TYPE_CHECKING:
    from suite.results.analysis import Analysis, Comparison


def rebased(analysis: Analysis, baseline: str, clock: str = "synced") -> Analysis:
    """Returns the analysis of a whole set with ratios over another of its stacks. By the clock `synced` it equals
    `Results.analysis(baseline)`; by another clock its ratios and geometric means are of that clock, while the medians
    of its stacks stay synced."""
    if clock != "synced":
        return over_baseline(analysis, Pairing.of(analysis.counted, analysis.protocol, clock), baseline)
    return analysis if baseline == analysis.baseline else over_baseline(analysis, analysis.pairing, baseline)


def over_baseline(analysis: Analysis, pairing: Pairing, baseline: str) -> Analysis:
    """Returns the analysis with its speedups, and all that follows from them, over a baseline."""
    speedups = pairing.over(baseline)
    over = by_side(speedups)
    return replace(
        analysis,
        baseline=baseline,
        pairing=pairing,
        speedups=tuple(speedups),
        summaries=tuple(summaries(analysis.counted, speedups, pairing.protocol)),
        comparisons=tuple(compared(comparison, pairing, baseline, over) for comparison in analysis.comparisons),
    )


def compared(comparison: Comparison, pairing: Pairing, baseline: str, over: Mapping[Side, Speedup]) -> Comparison:
    """Returns a question over a baseline; over a stand-in if this baseline has no time that counts."""
    chosen = stand_in(baseline, comparison.cells, comparison.stacks)
    if chosen:
        over = by_side(over_stand_in(pairing, chosen, comparison.id, comparison.stacks))
    stacks = (
        replace(stack, is_baseline=stack.stack == (chosen or baseline), speedup=over.get((comparison.id, stack.stack)))
        for stack in comparison.stacks
    )
    return replace(
        comparison, baseline=chosen or baseline, stands_in_for=baseline if chosen else "", stacks=tuple(stacks)
    )


def by_side(speedups: Iterable[Speedup]) -> dict[Side, Speedup]:
    return {(speedup.comparison_id, speedup.stack): speedup for speedup in speedups}


def stand_in(baseline: str, cells: Sequence[Cell], figures: Sequence[StackFigures]) -> str:
    """Returns the fastest stack if the baseline was run but has no time that counts, and two stacks or more have one.
    In every other case no stack stands in, and the result is empty."""
    failed = any(cell.stack == baseline and not cell.counts and cell.outcome != NOT_RUN for cell in cells)
    counting = [stack for stack in figures if stack.counts]
    if not failed or len(counting) < 2:
        return ""
    return min(counting, key=lambda stack: (stack.median.value, stack.stack)).stack


def over_stand_in(pairing: Pairing, chosen: str, question: str, figures: Sequence[StackFigures]) -> list[Speedup]:
    """Returns the speedups of a question's stacks over the stand-in `chosen`."""
    others = [stack.stack for stack in figures if stack.counts and stack.stack != chosen]
    return pairing.over(chosen, others, question, sharing=(len(others) + 1) / 2)


def means_where(
    analysis: Analysis, fields: Mapping[str, str], common: Collection[str] | None = None
) -> tuple[Summary, ...]:
    """Returns the geometric means over the questions whose columns have these values: {"pass": "train"}, say. With
    `common`, those over the common questions are over the questions of these ids, of the stacks that answered all."""

    def matches(row: Row) -> bool:
        return all(row.text(name) == value for name, value in fields.items())

    ids = {comparison.id for comparison in analysis.comparisons if matches(comparison.head)}
    speedups = [speedup for speedup in analysis.speedups if speedup.comparison_id in ids]
    shown = {row.stack_name for row in analysis.counted}
    lines = summaries(filter(matches, analysis.counted), speedups, analysis.protocol, common)
    return tuple(line for line in lines if line.stack in shown)
