"""What a map can show of a stack: its steady step, first run, break-even, memory, and the way to host memory."""

from __future__ import annotations

from dataclasses import dataclass, replace

from suite import units
from suite.report.map.cells import Square, shade, state_square, verdict_square
from suite.report.sections.timed.units import column_units
from suite.results.analysis import Comparison
from suite.results.cases.break_even import Course, crossing
from suite.results.outcomes import Cell, outcome_text
from suite.results.stack_figures import StackFigures


@dataclass(frozen=True, slots=True)
class Metric:
    """One reading of the map. A metric with a `clock` has ratios with verdicts; the others have none. `ends` are the
    words at the two ends of its scale of colours."""

    name: str
    words: str
    explained: str
    clock: str = ""
    ends: tuple[str, str] = ("slower", "faster")


STEADY = Metric(
    "steady",
    "a steady step",
    "Times of one step once it is warm, until its result is ready. Above 1× is faster.",
    "synced",
)
METRICS = (
    STEADY,
    Metric(
        "first",
        "the first run",
        "Times of the first call in a fresh process, compilation included. Above 1× is faster.",
        "first",
    ),
    Metric(
        "steps",
        "steps until ahead",
        "The step from which on a stack's total time, first run included, stays at or below the baseline's.",
        ends=("behind", "ahead"),
    ),
    Metric(
        "memory",
        "peak memory",
        "The greatest peak of any process. Above 1× is less memory; it has no verdict.",
        ends=("more memory", "less memory"),
    ),
    Metric(
        "host",
        "a step to host memory",
        "Times of one step until its result lies in host memory. Above 1× is faster.",
        "fetch",
    ),
)


def square(metric: Metric, comparison: Comparison, cell: Cell | None, href: str) -> Square:
    """Returns the cell of a stack on a question. `comparison` is already over the chosen baseline and by the metric's
    clock."""
    if cell is None:
        return state_square(None, comparison.name)
    where = f"{cell.stack} on {comparison.name}"
    stack = comparison.of(cell.stack)
    if stack is None or not stack.counts:
        return state_square(cell, where, href)
    shown = reading(metric, comparison, stack, where, href)
    shown = replace(shown, own=own_figure(metric, comparison, stack))
    if metric is STEADY and stack.has_modes:
        shown = replace(shown, has_modes=True, title=f"{shown.title}; its processes run in two modes")
    if cell.failed:  # it has times, but not from all of its processes
        ending = outcome_text(cell)
        note = f"{shown.note}; {ending}" if shown.note else ending
        shown = replace(shown, note=note, title=f"{shown.title} ({ending})")
    return shown


def reading(metric: Metric, comparison: Comparison, stack: StackFigures, where: str, href: str) -> Square:
    """Returns the cell of a stack whose times count."""
    if stack.is_baseline:
        return baseline_square(metric, comparison, stack, where, href)
    base = comparison.of(comparison.baseline)
    if metric.clock:
        if stack.speedup is None:
            return nothing("nothing to compare it with", where, href)
        return verdict_square(stack.speedup, where, href)
    if base is None or not base.counts:
        return nothing("nothing to compare it with", where, href)
    return (
        memory_square(base, stack, where, href) if metric.name == "memory" else steps_square(base, stack, where, href)
    )


def nothing(reason: str, where: str, href: str) -> Square:
    """Returns the cell of a stack that has no figure here, though its times count, with the reason."""
    return Square("none", units.UNKNOWN, title=f"{where}: {reason}", href=href, note=reason)


def baseline_square(metric: Metric, comparison: Comparison, stack: StackFigures, where: str, href: str) -> Square:
    """Returns the cell of the baseline: its own figure, over which the others' ratios are formed."""
    figure = own_figure(metric, comparison, stack)
    role = f", in place of {comparison.stands_in_for}" if comparison.stands_in_for else ""
    words = "baseline" if metric.name == "steps" else "1×"
    title = f"{where}: the baseline{role}{f', {figure}' if figure else ''}"
    return Square("baseline", words, figure, title, href=href)


def own_figure(metric: Metric, comparison: Comparison, stack: StackFigures) -> str:
    """Returns a stack's own figure of a metric, in the unit of its question; empty for a break-even, which is a figure
    of two stacks."""
    unit = column_units(comparison)
    figures = {
        "steady": unit.steady(stack.median.value),
        "first": unit.first(stack.first),
        "memory": peak(stack),
        "host": unit.steady(stack.fetch),
    }
    return figures.get(metric.name, "")


def peak(stack: StackFigures) -> str:
    """Returns the greatest peak of memory in words."""
    return units.quantity(stack.peak_bytes)


def memory_square(base: StackFigures, stack: StackFigures, where: str, href: str) -> Square:
    """Returns the cell of a peak of memory, with the baseline's peak over the stack's. A peak is a single number: the
    ratio has no interval, and so no verdict."""
    if not base.peak_bytes or not stack.peak_bytes:
        return nothing("its peak of memory is unknown", where, href)
    ratio = base.peak_bytes / stack.peak_bytes
    title = f"{where}: a peak of {peak(stack)}; {base.stack} has {units.ratio(ratio)} as much"
    return Square("measured", units.ratio(ratio), peak(stack), title, shade(ratio), ratio > 1, href)


def steps_square(base: StackFigures, stack: StackFigures, where: str, href: str) -> Square:
    """Returns the cell of a break-even: from or up to which step the stack's total time is at or below the
    baseline's."""
    crossed = crossing(stack, base)
    if crossed is None or crossed.course is Course.UNDECIDED:
        return nothing(f"no break-even, {crossed.reason if crossed else 'no times'}", where, href)
    steps = units.steps(crossed.steps or 0)
    words, strength, is_more = {
        Course.AHEAD: ("from the start", 3, True),
        Course.OVERTAKES: (f"from step {steps}", 2, True),
        Course.OVERTAKEN: (f"up to step {steps}", 1, False),
        Course.BEHIND: ("never", 3, False),
    }[crossed.course]
    return Square("steps", words, "", f"{where}: ahead of {base.stack} {words}", strength, is_more=is_more, href=href)
