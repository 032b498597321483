"""Hides some stacks or questions of a set's analysis; the others keep their figures, computed from the whole set."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

from suite.errors import unknown
from suite.order import natural
from suite.results.analysis import Analysis, Comparison
from suite.results.within_set import FieldComparison


def only(analysis: Analysis, stacks: Sequence[str], questions: Sequence[str] = ()) -> Analysis:
    """Returns the analysis of the stacks that match some glob, and of each question's baseline, on the questions whose
    names match some glob; without globs, of all. Speedups, their intervals and geometric means stay those of the whole
    set. Of some questions there is no comparison by field, which spans questions.

    Raises UserError for a glob that matches nothing of the set.
    """
    names = sorted({row.stack_name for row in analysis.rows}, key=natural)
    shown = matching("stack", stacks, names) | {analysis.baseline, *(each.baseline for each in analysis.comparisons)}
    comparisons = [each for whole in analysis.comparisons if (each := of_stacks(whole, shown)).cases]
    asked = matching("question", questions, [each.name for each in comparisons])
    kept, left = (tuple(each for each in comparisons if (each.name in asked) == wanted) for wanted in (True, False))
    if shown == {*names} and not left:
        return analysis
    ids = {each.id for each in kept}
    rows, counted = (
        tuple(row for row in every if row.stack_name in shown and (not left or row["comparison_id"] in ids))
        for every in (analysis.rows, analysis.counted)
    )
    fields = () if left else (of_field(each, shown) for each in analysis.within_set)
    return replace(
        analysis,
        rows=rows,
        counted=counted,
        hidden=tuple(stack for stack in names if stack not in shown),
        hidden_comparisons=left,
        comparisons=kept,
        within_set=tuple(each for each in fields if each.stacks),
    )


def matching(kind: str, patterns: Sequence[str], names: Collection[str]) -> set[str]:
    """Returns the names that match some glob; all without globs. Raises UserError for a glob that matches none."""
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in names):
            raise unknown(kind, pattern, names, of="The result set")
    return {name for name in names if not patterns or any(fnmatchcase(name, pattern) for pattern in patterns)}


def of_stacks(comparison: Comparison, shown: Collection[str]) -> Comparison:
    return replace(comparison, cases=tuple(case for case in comparison.cases if case.stack in shown))


def of_field(comparison: FieldComparison, shown: Collection[str]) -> FieldComparison:
    """Returns the comparison with the shown stacks only. A comparison by variant names stacks without their variants:
    there a stack is shown if it or one of its variants is."""
    names = {re.sub("@[^:]*", "", name) for name in shown} if comparison.field == "variant" else shown
    return replace(comparison, stacks={id_: stack for id_, stack in comparison.stacks.items() if stack in names})
