"""What a map can show of a stack: its steady step, first run, break-even, memory, and the way to host memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from suite import units
from suite.case import Flag
from suite.page.map.cells import NOTHING, Square, colour, ratio_square, state_square
from suite.page.sections.timed.units import Units, column_units
from suite.page.sections.whole_set.terms import flag_words
from suite.results.analysis import Comparison
from suite.results.case_row import CaseRow
from suite.results.cases.break_even import Course, crossing
from suite.results.outcomes import outcome_text


@dataclass(frozen=True, slots=True)
class Metric:
    """One reading of the map. A metric with a `clock` has ratios with verdicts; the others `read` a cell of the
    baseline's figures and a stack's. `own` is a stack's own figure, in the unit of its question. `ends` are the words
    at the two ends of its scale of colours."""

    name: str
    words: str
    explained: str
    clock: str = ""
    own: Callable[[CaseRow, Units], str] = lambda stack, unit: ""
    read: Callable[[CaseRow, CaseRow], Square] | None = None
    ends: tuple[str, str] = ("slower", "faster")
    of_baseline: str = "1×"


def nothing(reason: str) -> Square:
    """Returns the cell of a stack that has no figure here, though its times count."""
    return Square("none", units.UNKNOWN, title=reason, note=reason)


def memory_square(base: CaseRow, stack: CaseRow) -> Square:
    """Returns the cell of a peak of memory, with the baseline's peak over the stack's. A peak is a single number: the
    ratio has no interval, and so no verdict."""
    if not base.peak_bytes or not stack.peak_bytes:
        return nothing("its peak of memory is unknown")
    ratio, peak = base.peak_bytes / stack.peak_bytes, units.quantity(stack.peak_bytes)
    title = f"a peak of {peak}; {base.stack} has {units.ratio(ratio)} as much"
    return Square("measured", units.ratio(ratio), peak, title, colour(ratio))


def steps_square(base: CaseRow, stack: CaseRow) -> Square:
    """Returns the cell of a break-even: from or up to which step the stack's total time is at or below the
    baseline's."""
    crossed = crossing(stack, base)
    if crossed is None or crossed.course is Course.UNDECIDED:
        return nothing(f"no break-even, {crossed.reason if crossed else 'no times'}")
    steps = units.steps(crossed.steps or 0)
    words, shade = {
        Course.AHEAD: ("from the start", "f3"),
        Course.OVERTAKES: (f"from step {steps}", "f2"),
        Course.OVERTAKEN: (f"up to step {steps}", "s1"),
        Course.BEHIND: ("never", "s3"),
    }[crossed.course]
    return Square("steps", words, title=f"ahead of {base.stack} {words}", colour=shade)


STEADY = Metric(
    "steady",
    "a steady step",
    "Times of one step once it is warm, until its result is ready. Above 1× is faster.",
    "synced",
    lambda stack, unit: unit.steady(stack.steady),
)
METRICS = (
    STEADY,
    Metric(
        "first",
        "the first run",
        "Times of the first call in a fresh process, compilation included. Above 1× is faster.",
        "first",
        lambda stack, unit: unit.first(stack.first_seconds),
    ),
    Metric(
        "steps",
        "steps until ahead",
        "The step from which on a stack's total time, first run included, stays at or below the baseline's.",
        read=steps_square,
        ends=("behind", "ahead"),
        of_baseline="baseline",
    ),
    Metric(
        "memory",
        "peak memory",
        "The greatest peak of any process. Above 1× is less memory; it has no verdict.",
        own=lambda stack, unit: units.quantity(stack.peak_bytes),
        read=memory_square,
        ends=("more memory", "less memory"),
    ),
    Metric(
        "host",
        "a step to host memory",
        "Times of one step until its result lies in host memory. Above 1× is faster.",
        "fetch",
        lambda stack, unit: unit.steady(stack.fetch_seconds),
    ),
)


def square(metric: Metric, comparison: Comparison, case: CaseRow | None, *, is_decided: bool = True) -> Square:
    """Returns the cell of a stack on a question; None wasn't planned. `comparison` is already over the chosen baseline
    and by the metric's clock. Where something is decided, a stack that leads has a frame. The note has every flag of
    its processes but `assumed`, which the page counts once below the map."""
    if case is None:
        return replace(NOTHING, title=f"{comparison.name}: not planned")
    if not (case.is_timed and case.counts):
        shown = state_square(case)
    else:
        own = metric.own(case, column_units(comparison))
        leads = bool(metric.clock) and is_decided and case.stack in comparison.leaders
        shown = replace(reading(metric, comparison, case, own), own=own, leads=leads)
        if metric is STEADY and case.two_modes:
            shown = replace(shown, has_modes=True, title=f"{shown.title}; its processes run in two modes")
        ending = outcome_text(case) if case.failed else ""  # it has times, but not from all of its processes
        twin = comparison.noise_flags if comparison.noise and comparison.noise.stack == case.stack else ()
        flags = [*flagged(case.flags), *(f"A/A twin: {words}" for words in flagged(twin))]
        if more := "; ".join(filter(None, [ending, *flags])):
            note = "; ".join(filter(None, [shown.note, more]))
            shown = replace(shown, note=note, title=f"{shown.title} ({more})")
    return replace(shown, title=f"{case.stack} on {comparison.name}: {shown.title}")


def flagged(flags: Iterable[tuple[str, str]]) -> list[str]:
    return [f"{flag_words(flag)} {share}".strip() for flag, share in flags if flag != Flag.ASSUMED]


def reading(metric: Metric, comparison: Comparison, stack: CaseRow, own: str) -> Square:
    """Returns the cell of a stack whose times count; the baseline's has its `own` figure, over which the others' ratios
    are formed."""
    if stack.is_baseline:
        role = f", in place of {comparison.stands_in_for}" if comparison.stands_in_for else ""
        return Square("baseline", metric.of_baseline, own, f"the baseline{role}{f', {own}' if own else ''}")
    base, speedup = comparison.of(comparison.baseline), stack.speedup
    if metric.read and base and base.counts:
        return metric.read(base, stack)
    if metric.clock and speedup:
        known = speedup.why or speedup.note
        return ratio_square(speedup.ratio, speedup.verdict, f" as fast as {speedup.baseline}", known)
    return nothing("nothing to compare it with")
