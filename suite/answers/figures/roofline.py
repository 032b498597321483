"""The roofline: operations a second over operations a byte, a roof for each precision and level of memory."""

from __future__ import annotations

import polars as pl

from suite.answers.columns import flop
from suite.answers.figures.axes import LogAxis
from suite.answers.figures.curves import CurveChart, curves, marks
from suite.machine.roofline import Roofline

LEVELS = ("cache", "memory")  # from the cores outwards; the bandwidth of the cache may not have been measured


def chart(table: pl.DataFrame, roofline: Roofline) -> CurveChart:
    """Returns the chart of the cases of suite/answers/roofline.py, both axes logarithmic."""
    unit = flop(table["flops_per_second"].to_list())
    across = LogAxis.over(table["flops_per_byte"].to_list(), least_span=100)
    peaks = roofline.flops_per_second
    bandwidths = dict(
        zip(LEVELS[-len(roofline.levels) :], [each.bytes_per_second for each in roofline.levels], strict=True)
    )
    lowest = min(bandwidths.values()) * across.low
    up = LogAxis.over([*peaks.values(), min(lowest, *peaks.values()), *table["flops_per_second"]])
    roofs = {
        f"{precision}, {level}": (roof(peak, bandwidth, across), f"{precision}, {level}: up to {unit(peak)}")
        for precision, peak in peaks.items()
        for level, bandwidth in bandwidths.items()
    }
    cases = [
        (
            case["flops_per_byte"],
            case["flops_per_second"],
            f"{case['question']}, {case['stack']}: {unit(case['flops_per_second'])}",
        )
        for case in table.iter_rows(named=True)
    ]
    return CurveChart(
        id="roofline-chart",
        title=f"{unit.name} over FLOP a byte",
        across_label="FLOP for each byte that a step must move, both axes on a log scale",
        across=across.ticks(),
        up=up.ticks(unit),
        curves=curves(roofs, across, up),
        marks=marks(cases, across, up),
    )


def roof(peak: float, bandwidth: float, across: LogAxis) -> list[tuple[float, float]]:
    """Returns the corners of a roof, which rises with the bandwidth up to the peak."""
    knee = min(max(peak / bandwidth, across.low), across.high)
    return [(at, min(peak, bandwidth * at)) for at in (across.low, knee, across.high)]
