"""Judges a set over a baseline, which a reader of the page chooses; on a question where this baseline has no time that
counts, the fastest stack stands in for it. Geometric means leave ratios over a stand-in out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from suite.sets.rows import NOT_RUN
from suite.stacks.names import counterpart
from suite.verdicts.leads import behind
from suite.verdicts.pairing import Side
from suite.verdicts.speedups import Pairing
from suite.verdicts.verdicts import Speedup

if TYPE_CHECKING:
    from suite.results.analysis import Analysis, Comparison


def rebased(analysis: Analysis, baseline: str, clock: str = "synced") -> Analysis:
    """Returns the analysis of a whole set with ratios over another of its stacks. By the clock `synced` it equals
    `Results.analysis(baseline)`; by another clock its ratios and geometric means are of that clock, while the medians
    of its stacks stay synced."""
    pairing = analysis.pairing.by(clock)
    is_same = baseline == analysis.baseline and pairing is analysis.pairing
    return analysis if is_same else over_baseline(analysis, pairing, baseline)


def over_baseline(analysis: Analysis, pairing: Pairing, baseline: str) -> Analysis:
    """Returns the analysis with its speedups, and all that follows from them, over a baseline."""
    over = pairing.over(baseline)
    comparisons = tuple(compared(comparison, pairing, baseline, over) for comparison in analysis.comparisons)
    bases = {each.id: each.baseline for each in comparisons if not each.stands_in_for}
    speedups = (
        speedup
        for base in dict.fromkeys([baseline, *bases.values()])
        for (question, _), speedup in pairing.over(base).items()
        if bases.get(question) == base
    )
    return replace(analysis, baseline=baseline, pairing=pairing, speedups=tuple(speedups), comparisons=comparisons)


def compared(comparison: Comparison, pairing: Pairing, baseline: str, over: Mapping[Side, Speedup]) -> Comparison:
    """Returns a question over a baseline or its counterpart there; over a stand-in if that has no time that counts."""
    planned = counterpart(baseline, (case.stack for case in comparison.cases)) or baseline
    chosen = stand_in(comparison, planned)
    base = chosen or planned
    if base != baseline:
        over = pairing.over(base)
    cases = (
        replace(case, is_baseline=case.stack == base, speedup=over.get((comparison.id, case.stack)))
        if case.is_timed
        else case
        for case in comparison.cases
    )
    return replace(
        comparison,
        baseline=base,
        stands_in_for=planned if chosen else "",
        cases=tuple(cases),
        behind=behind(pairing).get(comparison.id, frozenset()),
    )


def stand_in(comparison: Comparison, baseline: str) -> str:
    """Returns the fastest stack if the baseline was run but has no time that counts, and two stacks or more have one.
    In every other case no stack stands in, and the result is empty."""
    case = comparison.of(baseline)
    failed = case is not None and not case.counts and case.outcome != NOT_RUN
    return comparison.counting[0].stack if failed and len(comparison.counting) > 1 else ""
