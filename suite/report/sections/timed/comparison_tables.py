"""The tables of comparisons in Markdown and on the console: speedups, verdicts and times as text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from suite import units
from suite.answers.sentences import capital, listed
from suite.case import Outcome
from suite.report.sections.timed.headlines import standing_in
from suite.report.sections.timed.units import column_units
from suite.report.tables import Table
from suite.results.analysis import Comparison
from suite.results.outcomes import outcome_text
from suite.results.speedup.verdicts import ALONE
from suite.results.stack_figures import StackFigures

FLOOR_RULE = (
    "A speedup that is no farther from 1× than the noise floor's farther end, in either direction, isn't called faster "
    "or slower."
)


def speedup_table(comparisons: Sequence[Comparison], stacks: Sequence[str], baseline: str) -> Table:
    """Returns the speedups on some questions for Markdown: a line for each stack that is planned there, a column for
    each question. The line of the baseline has its times."""
    names = [
        f"{comparison.name} (over {comparison.baseline})" if comparison.stands_in_for else comparison.name
        for comparison in comparisons
    ]
    planned = {cell.stack for comparison in comparisons for cell in comparison.cells} | {baseline}
    floors = [
        f"{comparison.name} {units.estimate(ratio.value, ratio.low, ratio.high)}"
        for comparison in comparisons
        if comparison.noise
        for ratio in (comparison.noise.ratio,)
    ]
    noise = f"Noise floor, a stack over itself: {', '.join(floors)}. {FLOOR_RULE}"
    return Table(
        f"Speedup over {baseline}",
        ["stack", *names],
        [
            [stack, *(speedup_cell(comparison, stack) for comparison in comparisons)]
            for stack in stacks
            if stack in planned
        ],
        numbers=names,
        before=[*filter(None, map(standing_in, comparisons))],
        after=[noise] * bool(floors),
    )


def speedup_cell(comparison: Comparison, stack: str) -> str:
    """Returns `1.42× [1.35, 1.50] faster`. An undecided ratio has its reason first, `undecided, the interval holds 1×:
    1.03× [0.91, 1.18]`; the baseline has its time, and a stack without times its outcome."""
    cell = next((cell for cell in comparison.cells if cell.stack == stack), None)
    figures = comparison.of(stack)
    if cell is None:
        return units.UNKNOWN
    if figures is None or not figures.counts:
        return outcome_text(cell)
    aside = f", {outcome_text(cell)}" if cell.failed else ""
    if figures.is_baseline or figures.speedup is None:
        return f"{column_units(comparison).steady(figures.median.value)}{aside}"
    if figures.speedup.why:
        return f"undecided, {figures.speedup.why}: {speedup_text(figures)}{aside}"
    alone = f" ({ALONE})" if figures.speedup.note == ALONE else ""
    return f"{speedup_text(figures)} {figures.speedup.verdict}{alone}{aside}"


def console_table(comparison: Comparison, answer: str) -> Table:
    """Returns the table of a comparison for the console, the fastest stack first. Stacks without times come last, with
    their outcome in place of a verdict."""
    heads, lines = heads_over(comparison.baseline), stack_lines(comparison)
    after = [*filter(None, [standing_in(comparison), equal_words([comparison]), answer])]
    return Table(comparison.name, heads, lines, numbers=[heads[1], *heads[3:]], after=after)


def heads_over(baseline: str) -> list[str]:
    """Returns the heads of the columns of `stack_lines`."""
    return ["stack", "median", "verdict", f"speedup over {baseline}", "first run", "peak memory", "error"]


def stack_lines(comparison: Comparison) -> list[list[str]]:
    """Returns a line for each stack of a comparison: its median, verdict, speedup, first run, peak of memory and worst
    error."""
    unit, dash = column_units(comparison), units.UNKNOWN
    lines = [
        [
            stack.stack,
            unit.steady(stack.median.value),
            verdict_text(stack),
            speedup_text(stack),
            unit.first(stack.first),
            unit.memory(stack.peak_bytes),
            dash if stack.relative_error is None else units.magnitude(stack.relative_error),
        ]
        for stack in comparison.stacks
    ]
    return lines + [[cell.stack, dash, outcome_text(cell), dash, dash, dash, dash] for cell in comparison.untimed]


def equal_words(comparisons: Iterable[Comparison]) -> str:
    """Returns how far right results may differ, and their types if stacks have different ones; empty if unknown."""
    stacks = [stack for comparison in comparisons for stack in comparison.stacks]
    limits = sorted({stack.tolerance for stack in stacks if stack.tolerance is not None})
    named: dict[str, dict[str, None]] = {}
    for stack in stacks:
        if stack.result_types:
            named.setdefault(stack.result_types, {})[stack.stack] = None
    parts = (
        [f"right results are within a relative error of {', '.join(map(units.magnitude, limits))}"] if limits else []
    )
    if len(named) > 1:
        kinds = [f"{kind} on {listed([*names])}" for kind, names in sorted(named.items())]
        parts.append(f"results are {', '.join(kinds)}")
    return f"{capital('; '.join(parts))}." if parts else ""


def speedup_text(stack: StackFigures) -> str:
    """Returns `1.42× [1.35, 1.50]`."""
    if stack.speedup is None:
        return units.UNKNOWN
    ratio = stack.speedup.ratio
    return units.estimate(ratio.value, ratio.low, ratio.high)


def verdict_text(stack: StackFigures) -> str:
    """Returns the verdict or `baseline`, with what else to know in parentheses; for a stack without a time that counts,
    its outcome."""
    if not stack.counts:
        return outcome_text(stack.cell)
    verdict = stack.speedup.verdict if stack.speedup else units.UNKNOWN
    word = "baseline" if stack.is_baseline else verdict
    asides = [outcome_text(stack.cell)] if stack.outcome != Outcome.OK else []
    asides += [stack.speedup.why] if stack.speedup and stack.speedup.why else []
    asides += ["two modes"] if stack.has_modes else []
    asides += [ALONE] if stack.speedup and stack.speedup.note == ALONE else []
    return f"{word} ({', '.join(asides)})" if asides else word
