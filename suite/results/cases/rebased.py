"""Computes the analysis of a set over another baseline, or by another clock.

On the page a reader can choose any stack as the baseline: the numbers over every baseline are computed here, and the
browser only shows those of the chosen one.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from suite.results.analysis import Analysis, Comparison
from suite.results.baselines import over_stand_in, stand_in
from suite.results.speedup.geometric_means import Summary, summaries
from suite.results.speedup.pairing import Side
from suite.results.speedup.verdicts import Pairing, Speedup
from suite.sets.rows import Row


def rebased(analysis: Analysis, baseline: str, clock: str = "synced") -> Analysis:
    """Returns the analysis of a whole set with ratios over another of its stacks. By the clock `synced` it equals
    `Results.analysis(baseline)`; by another clock its ratios and geometric means are of that clock, while the medians
    of its stacks stay synced."""
    if clock == "synced" and baseline == analysis.baseline:
        return analysis
    pairing = analysis.pairing if clock == "synced" else Pairing.of(analysis.counted, analysis.protocol, clock)
    speedups = tuple(pairing.over(baseline))
    over = {(speedup.comparison_id, speedup.stack): speedup for speedup in speedups}
    return replace(
        analysis,
        baseline=baseline,
        pairing=pairing,
        speedups=speedups,
        summaries=tuple(summaries(analysis.counted, speedups, analysis.protocol)),
        comparisons=tuple(compared(comparison, pairing, baseline, over) for comparison in analysis.comparisons),
    )


def compared(comparison: Comparison, pairing: Pairing, baseline: str, over: Mapping[Side, Speedup]) -> Comparison:
    """Returns a question over another baseline; over a stand-in if this baseline has no time that counts."""
    chosen = stand_in(baseline, comparison.cells, comparison.stacks)
    if chosen:
        figures = over_stand_in(pairing, chosen, comparison.id, comparison.stacks)
    else:
        figures = [
            replace(
                stack,
                is_baseline=stack.stack == baseline,
                speedup=None if stack.stack == baseline else over.get((comparison.id, stack.stack)),
            )
            for stack in comparison.stacks
        ]
    return replace(
        comparison, baseline=chosen or baseline, stands_in_for=baseline if chosen else "", stacks=tuple(figures)
    )


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
