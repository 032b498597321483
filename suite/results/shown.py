"""Hides some stacks or questions of a set's analysis; the others keep their figures, computed from the whole set."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

from suite.errors import unknown
from suite.results.analysis import Analysis
from suite.results.within_set import FieldComparison
from suite.sets.rows import Row


def only(analysis: Analysis, stacks: Sequence[str], questions: Sequence[str] = ()) -> Analysis:
    """Returns the analysis of the stacks that match some glob, and of the baseline, on the questions whose names match
    some glob; without globs, of all. Speedups, their intervals and geometric means stay those of the whole set.

    Raises UserError for a glob that matches nothing of the set.
    """
    return of_questions(of_stacks(analysis, stacks), questions)


def of_stacks(analysis: Analysis, patterns: Sequence[str]) -> Analysis:
    """Returns the analysis of some stacks."""
    stacks = sorted({row.stack_name for row in analysis.rows})
    shown = matching("stack", patterns, stacks) | {analysis.baseline}
    if not patterns or shown == {*stacks}:
        return analysis
    comparisons = (
        replace(
            comparison,
            stacks=tuple(figures for figures in comparison.stacks if figures.stack in shown),
            cells=tuple(cell for cell in comparison.cells if cell.stack in shown),
        )
        for comparison in analysis.comparisons
    )
    return of_rows(
        replace(
            analysis,
            hidden=tuple(stack for stack in stacks if stack not in shown),
            summaries=tuple(line for line in analysis.summaries if line.stack in shown),
            comparisons=tuple(comparison for comparison in comparisons if comparison.cells),
            within_set=tuple(
                kept for comparison in analysis.within_set if (kept := of_shown(comparison, shown)).stacks
            ),
        ),
        lambda row: row.stack_name in shown,
    )


def of_questions(analysis: Analysis, patterns: Sequence[str]) -> Analysis:
    """Returns the analysis of some questions, without the comparisons by field (`within_set`), which span questions."""
    names = [comparison.name for comparison in analysis.comparisons]
    shown = matching("question", patterns, names)
    if not patterns or shown == {*names}:
        return analysis
    comparisons = tuple(comparison for comparison in analysis.comparisons if comparison.name in shown)
    hidden = tuple(comparison for comparison in analysis.comparisons if comparison.name not in shown)
    ids = {comparison.id for comparison in comparisons}
    return of_rows(
        replace(analysis, comparisons=comparisons, within_set=(), hidden_comparisons=hidden),
        lambda row: row["comparison_id"] in ids,
    )


def matching(kind: str, patterns: Iterable[str], names: Collection[str]) -> set[str]:
    """Returns the names that match some glob. Raises UserError for a glob that matches none."""
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in names):
            raise unknown(kind, pattern, names, of="The result set")
    return {name for name in names if any(fnmatchcase(name, pattern) for pattern in patterns)}


def of_rows(analysis: Analysis, is_shown: Callable[[Row], bool]) -> Analysis:
    """Returns the analysis of some rows."""
    rows, counted = (tuple(filter(is_shown, kept)) for kept in (analysis.rows, analysis.counted))
    return replace(analysis, rows=rows, counted=counted)


def of_shown(comparison: FieldComparison, shown: Collection[str]) -> FieldComparison:
    """Returns the comparison with the shown stacks only. A comparison by variant names stacks without their variants:
    there a stack is shown if it or one of its variants is."""
    names = {name.partition("@")[0] for name in shown} if comparison.field == "variant" else shown
    return replace(comparison, stacks={id_: stack for id_, stack in comparison.stacks.items() if stack in names})
