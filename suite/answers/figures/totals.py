"""The chart of total time over steps: both axes logarithmic, a line for each stack."""

from __future__ import annotations

from collections.abc import Sequence

from suite import units
from suite.answers.figures.axes import LogAxis
from suite.answers.figures.curves import CurveChart, curves
from suite.results.cases.break_even import Calls, steps_shown
from suite.results.names import slug


def totals_chart(name: str, stacks: Sequence[Calls], last: int) -> CurveChart:
    """Returns the chart of one question, `name`, from 1 to `last` steps."""
    across = LogAxis.over([1, last])
    up = LogAxis.over([calls.total(at) for calls in stacks for at in (1, last)])
    series = {
        calls.stack: ([(at, calls.total(at)) for at in steps_shown(last)], line_words(calls, last)) for calls in stacks
    }
    return CurveChart(
        id=f"totals-{slug(name)}-chart",
        title=f"Total time on {name}",
        across_label="steps, log scale; time on a log scale, too",
        across=across.ticks(),
        up=up.ticks(words=round_time),
        curves=curves(series, across, up),
    )


def line_words(calls: Calls, last: int) -> str:
    """Returns `jax_jit: 636 ms after 1 step, 221 s after 10,000`."""
    first, end = units.seconds(calls.total(1)), units.seconds(calls.total(last))
    return f"{calls.stack}: {first} after 1 step, {end} after {last:,}"


def round_time(seconds: float) -> str:
    """Returns `20 ms`: a round time in a unit that suits it, since no unit suits all times of an axis over many
    decades."""
    unit = units.time_unit([seconds])
    return f"{units.short(seconds / unit.size)} {unit.name}"
