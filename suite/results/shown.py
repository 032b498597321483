"""Hides some stacks of a set's analysis: the figures of the others stay those of the whole set."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

from suite.errors import unknown
from suite.results.analysis import Analysis
from suite.results.questions.behaviour import behaviours
from suite.results.questions.capacity import memory_questions
from suite.results.questions.holders import holder_questions
from suite.results.questions.profiles import profile_questions
from suite.results.questions.programs import program_questions
from suite.results.store.rows import Row
from suite.results.within_set import Ways


def only(analysis: Analysis, patterns: Sequence[str]) -> Analysis:
    """Returns the analysis with the stacks that match some glob, and the baseline; without globs, with all stacks.
    Speedups, their intervals and geometric means stay as computed among all stacks.

    Raises UserError for a glob that matches no stack of the set.
    """
    stacks = sorted({row.stack_name for row in analysis.rows})
    for pattern in patterns:
        if not any(fnmatchcase(stack, pattern) for stack in stacks):
            raise unknown("stack in this result set", pattern, stacks)
    shown = {stack for stack in stacks if any(fnmatchcase(stack, pattern) for pattern in patterns)}
    shown |= {analysis.baseline}
    if not patterns or shown == {*stacks}:
        return analysis
    rows, counted = kept(analysis.rows, shown), kept(analysis.counted, shown)
    comparisons = (
        replace(
            comparison,
            stacks=tuple(figures for figures in comparison.stacks if figures.stack in shown),
            cells=tuple(cell for cell in comparison.cells if cell.stack in shown),
        )
        for comparison in analysis.comparisons
    )
    return replace(
        analysis,
        rows=rows,
        counted=counted,
        hidden=tuple(stack for stack in stacks if stack not in shown),
        summaries=tuple(line for line in analysis.summaries if line.stack in shown),
        comparisons=tuple(comparison for comparison in comparisons if comparison.cells),
        # These are computed anew: none of their figures depends on other stacks.
        memory=memory_questions(counted),
        holders=holder_questions(counted),
        programs=program_questions(counted),
        profiles=profile_questions(counted),
        behaviour=behaviours(counted),
        ways=tuple(ways for ways in (ways_of(ways, shown) for ways in analysis.ways) if ways.stacks),
    )


def kept(rows: Iterable[Row], shown: Collection[str]) -> tuple[Row, ...]:
    """Returns the rows of the shown stacks."""
    return tuple(row for row in rows if row.stack_name in shown)


def ways_of(ways: Ways, shown: Collection[str]) -> Ways:
    """Returns the ways with the shown stacks only; for variants, with the stacks that they are variants of."""
    names = {name.partition("@")[0] for name in shown} if ways.field == "variant" else shown
    return replace(ways, stacks={id_: stack for id_, stack in ways.stacks.items() if stack in names})
