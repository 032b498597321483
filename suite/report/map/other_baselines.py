"""The parts of the sections over every baseline that a reader can choose; the page hides a part until its baseline is
chosen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from suite.report.figures.axes import Plot
from suite.report.figures.plots import speedup_plot
from suite.report.map.controls import PageMap
from suite.report.sections.labels import comparison_anchor
from suite.report.sections.timed.break_even import BreakEvenView, break_even_views
from suite.report.sections.timed.summary import SummarySection


@dataclass(frozen=True, slots=True)
class OtherBaseline:
    """A baseline, with the geometric means over it. `speedups` has the plot of the speedups over it, `break_even` where
    the stacks' total times cross its total time, both keyed by the comparison's anchor."""

    baseline: str
    summary: SummarySection
    speedups: Mapping[str, Plot]
    break_even: Mapping[str, BreakEvenView]


def other_baselines(overview: PageMap) -> tuple[OtherBaseline, ...]:
    """Returns the parts over every baseline of the page's control but the one that the page begins with."""
    others = []
    for baseline, analysis in overview.analyses.items():
        if baseline == overview.baseline:
            continue
        anchors = ((comparison_anchor(comparison), comparison) for comparison in analysis.comparisons)
        plots = {
            anchor: speedup_plot(comparison, anchor, analysis.protocol.tie_ratio) for anchor, comparison in anchors
        }
        speedups = {anchor: plot for anchor, plot in plots.items() if plot}
        crossings = {view.anchor: view for view in break_even_views(analysis)}
        others.append(OtherBaseline(baseline, SummarySection.over(analysis), speedups, crossings))
    return tuple(others)
