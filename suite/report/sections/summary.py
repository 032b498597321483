"""Tables across comparisons: geometric means, eager against compiled, device against host."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from suite.report.sections.comparison import Units, anchor, column_units
from suite.results.analysis import Analysis, Comparison
from suite.results.speedup.geometric_means import Summary
from suite.results.speedup.verdicts import Speedup
from suite.results.stack_figures import StackFigures
from suite.stacks.catalog import STACKS
from suite.stats import Estimate


@dataclass(frozen=True, slots=True)
class SummaryRow:
    """A stack's speedups over the baseline in one line; `ok` of `planned` comparisons have a ratio.

    `common` is the mean over the `n_common` comparisons that all stacks answered.
    """

    stack: str
    is_baseline: bool
    mean: Estimate | None
    ok: int
    planned: int
    least: float | None
    least_name: str
    greatest: float | None
    greatest_name: str
    common: Estimate | None
    n_common: int


@dataclass(frozen=True, slots=True)
class PairRow:
    """One dialect run eagerly and compiled. `steps`: after how many of them compiling has paid off."""

    comparison: str
    anchor: str
    eager: str
    compiled: str
    eager_seconds: float | None
    compiled_seconds: float | None
    eager_first: float | None
    compiled_first: float | None
    speedup: Speedup | None
    outcome: str
    steps: float | None
    units: Units


@dataclass(frozen=True, slots=True)
class TransferRow:
    """One stack by its clocks, on one question."""

    comparison: str
    anchor: str
    figures: StackFigures
    units: Units


def compiled_pairs(stacks: Sequence[str]) -> dict[str, str]:
    """{compiled stack: the eager stack that runs the same code}, of those at hand, by the catalogue."""
    pairs_at_hand = {}
    for name in stacks:
        stack = STACKS.get(name.partition("@")[0])
        if stack and stack.eager in stacks:
            pairs_at_hand[name] = str(stack.eager)
    return pairs_at_hand


def summary_rows(analysis: Analysis) -> tuple[SummaryRow, ...]:
    """The baseline and every stack, fastest over the common comparisons first; stacks without a ratio come last."""
    if not analysis.speedups:
        return ()
    names = {comparison.id: comparison.name for comparison in analysis.comparisons}
    rows = [summary_row(line, names) for line in analysis.summaries]
    rows.append(baseline_row(analysis))
    return tuple(sorted(rows, key=rank))


def rank(row: SummaryRow) -> tuple[bool, float, str]:
    """By the common comparisons alone: failing where it is slow must not raise a stack. Without any, by name."""
    return row.mean is None, -row.common.value if row.common else 0.0, row.stack


def summary_row(line: Summary, names: Mapping[str, str]) -> SummaryRow:
    """The line of a stack."""
    least, greatest = line.least, line.greatest
    return SummaryRow(
        stack=line.stack,
        is_baseline=False,
        mean=line.ratio,
        ok=line.n_ok,
        planned=line.n,
        least=least.ratio.value if least else None,
        least_name=names[least.comparison_id] if least else "",
        greatest=greatest.ratio.value if greatest else None,
        greatest_name=names[greatest.comparison_id] if greatest else "",
        common=line.common,
        n_common=line.n_common,
    )


def baseline_row(analysis: Analysis) -> SummaryRow:
    """The line of the baseline: 1, over the comparisons in which it counts."""
    cells = [
        cell for comparison in analysis.comparisons for cell in comparison.cells if cell.stack == analysis.baseline
    ]
    shared = max((line.n_common for line in analysis.summaries), default=0)
    return SummaryRow(
        analysis.baseline,
        is_baseline=True,
        mean=Estimate(1.0),
        ok=sum(cell.counts for cell in cells),
        planned=len(cells),
        least=None,
        least_name="",
        greatest=None,
        greatest_name="",
        common=Estimate(1.0) if shared else None,
        n_common=shared,
    )


def pair_rows(analysis: Analysis, compiled: Mapping[str, str]) -> tuple[PairRow, ...]:
    """Every compiled stack beside its eager one, where both were planned."""
    speedups = {
        eager: analysis.over(eager, [name for name, other in compiled.items() if other == eager])
        for eager in set(compiled.values())
    }
    return tuple(
        pair_row(comparison, eager, name, speedups[eager].get((comparison.id, name)))
        for comparison in analysis.comparisons
        for name, eager in compiled.items()
        if {name, eager} <= {cell.stack for cell in comparison.cells}
    )


def pair_row(comparison: Comparison, eager: str, compiled: str, speedup: Speedup | None) -> PairRow:
    """One pair on one question."""
    outcomes = {cell.stack: cell.outcome for cell in comparison.cells}
    slow, fast = comparison.of(eager), comparison.of(compiled)
    return PairRow(
        comparison=comparison.name,
        anchor=anchor(comparison),
        eager=eager,
        compiled=compiled,
        eager_seconds=slow.median.value if slow else None,
        compiled_seconds=fast.median.value if fast else None,
        eager_first=slow.first if slow else None,
        compiled_first=fast.first if fast else None,
        speedup=speedup,
        outcome=next((outcomes[stack] for stack in (compiled, eager) if outcomes[stack] != "ok"), "ok"),
        steps=break_even(slow, fast) if speedup and speedup.verdict == "faster" else None,
        units=column_units(comparison),
    )


def break_even(eager: StackFigures | None, compiled: StackFigures | None) -> float | None:
    """Steps after which the compiled stack has caught up with the eager one, first and second run included."""
    if eager is None or compiled is None:
        return None
    heads = [(figures.first, figures.second) for figures in (eager, compiled)]
    (eager_first, eager_second), (compiled_first, compiled_second) = heads
    if eager_first is None or eager_second is None or compiled_first is None or compiled_second is None:
        return None
    lost = (compiled_first + compiled_second) - (eager_first + eager_second)
    saved = eager.median.value - compiled.median.value
    return 2.0 + max(0.0, math.ceil(lost / saved)) if saved > 0 else None


def transfer_rows(analysis: Analysis) -> tuple[TransferRow, ...]:
    """The clocks of every stack whose times count."""
    return tuple(
        TransferRow(comparison.name, anchor(comparison), figures, column_units(comparison))
        for comparison in analysis.comparisons
        for figures in comparison.stacks
        if figures.counts
    )
