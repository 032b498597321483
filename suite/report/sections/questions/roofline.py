"""The section "Roofline": how near each case comes to what the machine can do, and what limits it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import Any

from suite import units
from suite.machine.roofline import Roofline
from suite.report.figures.axes import LogAxis
from suite.report.figures.curves import CurveChart, curves, from_top
from suite.report.sections.labels import left_out
from suite.report.sections.section import Context, Section
from suite.report.sections.sentences import counted
from suite.results.analysis import raised
from suite.results.cases.roofline import MEMORY, RooflinePoint, points
from suite.units import Unit, rate_unit

LEVELS = ("cache", "memory")  # from the cores outwards; the bandwidth of the cache may not have been measured
BY_QUESTION = attrgetter("question")


@dataclass(frozen=True, slots=True)
class RooflineSection(Section):
    """The points of all cases, with the chart of points and roofs and the unit of the points' rates. `left_out` names
    the stacks without a point on a question that has some, each with its outcome."""

    points: tuple[RooflinePoint, ...]
    left_out: tuple[str, ...]
    chart: CurveChart
    unit: Unit

    name = "roofline"
    nav = "Roofline"
    heading = "Against the machine's limit"
    key = "roofline"
    terms = ("roofline", "efficiency")

    @classmethod
    def of(cls, context: Context) -> RooflineSection | None:
        """Returns the section; None if no roofline was measured, or the work of no case is known."""
        measured = Roofline.of(context.results.roofline, context.results.ceilings)
        roofline = raised(measured, context.analysis.counted)
        listed = points(context.analysis, roofline) if roofline else ()
        if roofline is None or not listed:
            return None
        unit = rate_unit((point.flops_per_second for point in listed), "FLOP")
        shown = {question: [point.stack for point in group] for question, group in groupby(listed, key=BY_QUESTION)}
        without = tuple(
            words
            for comparison in context.analysis.comparisons
            if comparison.name in shown
            for words in left_out(comparison, shown[comparison.name])
        )
        return cls(listed, without, roofline_chart(listed, roofline, unit), unit)

    @property
    def answer(self) -> str:
        """Returns which case comes nearest to the limit, which stays farthest from it, and how many comparisons memory
        limits."""
        best, worst = (choose(self.points, key=lambda point: point.efficiency) for choose in (max, min))
        questions = {point.question: point.bound for point in self.points}
        by_memory = sum(bound == MEMORY for bound in questions.values())
        near = f"{best.stack} reaches {units.percent(best.efficiency)} of the machine's limit on {best.question}"
        far = f"{worst.stack} {units.percent(worst.efficiency)} on {worst.question}"
        return f"{near}, {far}; memory limits {by_memory} of {counted(len(questions), 'comparison')}."

    def data(self) -> list[Any]:
        """Returns a point for each case, with its rate, its share of the limit, and its bound."""
        return [
            {
                "question": point.question,
                "stack": point.stack,
                "flops_per_byte": point.flops_per_byte,
                "flops_per_second": point.flops_per_second,
                "efficiency": point.efficiency,
                "bound": point.bound,
            }
            for point in self.points
        ]


def roofline_chart(points: Sequence[RooflinePoint], roofline: Roofline, unit: Unit) -> CurveChart:
    """Returns the chart of operations a second over operations a byte, both axes logarithmic: a roof for each precision
    and level of memory, and the points. A point may lie above the roof of memory if its data stay in a cache."""
    across = LogAxis.over([point.flops_per_byte for point in points], least_span=100)
    peaks = roofline.flops_per_second
    reached = (level.bytes_per_second for level in roofline.levels)
    bandwidths = [*zip(LEVELS[-len(roofline.levels) :], reached, strict=True)]
    lowest = min(bandwidth for _, bandwidth in bandwidths) * across.low
    up = LogAxis.over([*peaks.values(), min(lowest, *peaks.values()), *(point.flops_per_second for point in points)])
    series = {
        f"{precision}, {level}": (roof(peak, bandwidth, across), f"{precision}, {level}: up to {unit(peak)}")
        for precision, peak in peaks.items()
        for level, bandwidth in bandwidths
    }
    return CurveChart(
        id="roofline-chart",
        title=f"{unit.name} over FLOP a byte",
        across_label="FLOP for each byte that a step must move, both axes on a log scale",
        across=across.ticks(),
        up=up.ticks(unit),
        curves=curves(series, across, up),
        marks=tuple(
            (
                across.percent(point.flops_per_byte),
                from_top(up, point.flops_per_second),
                f"{point.question}, {point.stack}: {unit(point.flops_per_second)}",
            )
            for point in points
        ),
    )


def roof(peak: float, bandwidth: float, across: LogAxis) -> list[tuple[float, float]]:
    """Returns the corners of a roof, which rises with the bandwidth up to the peak."""
    knee = min(max(peak / bandwidth, across.low), across.high)
    return [(at, min(peak, bandwidth * at)) for at in (across.low, knee, across.high)]
