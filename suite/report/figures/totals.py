"""The chart of total time over steps: both axes logarithmic, one line a stack, a mark where it crosses the baseline."""

from __future__ import annotations

from collections.abc import Sequence

from suite import units
from suite.report.figures.axes import LogAxis
from suite.report.figures.curves import CurveChart, curves, from_top
from suite.results.cases.break_even import Calls, steps_shown


def totals_chart(id_: str, name: str, stacks: Sequence[tuple[Calls, tuple[int, str] | None]], last: int) -> CurveChart:
    """Returns the chart of one question, `name`, from 1 to `last` steps. `stacks` has each stack's calls, and (step,
    words) of the point where it crosses the baseline, or None."""
    across = LogAxis.over([1, last])
    up = LogAxis.over([calls.total(at) for calls, _ in stacks for at in (1, last)])
    series = {
        calls.stack: ([(at, calls.total(at)) for at in steps_shown(last)], line_words(calls, last))
        for calls, _ in stacks
    }
    return CurveChart(
        id=f"{id_}-chart",
        title=f"Total time on {name}",
        across_label="steps, log scale; time on a log scale, too",
        across=across.ticks(),
        up=up.ticks(words=round_time),
        curves=curves(series, across, up),
        marks=tuple(
            (across.percent(mark[0]), from_top(up, calls.total(mark[0])), mark[1])
            for calls, mark in stacks
            if mark and mark[0] <= last
        ),
    )


def line_words(calls: Calls, last: int) -> str:
    """Returns `jax_jit: 636 ms after 1 step, 221 s after 10,000`."""
    first, end = units.seconds(calls.total(1)), units.seconds(calls.total(last))
    return f"{calls.stack}: {first} after 1 step, {end} after {last:,}"


def round_time(seconds: float) -> str:
    """Returns `20 ms`: a round time in its own unit, since no unit suits an axis over many decades."""
    unit = units.time_unit([seconds])
    return f"{units.short(seconds / unit.size)} {unit.name}"
