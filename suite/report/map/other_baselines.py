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
from suite.report.sections.timed.headlines import Headline
from suite.report.sections.timed.summary import SummarySection


@dataclass(frozen=True, slots=True)
class OtherBaseline:
    """A baseline, with the geometric means over it. `speedups` has the plot of the speedups over it, `break_even` where
    the stacks' total times cross its total time, both keyed by the comparison's anchor."""

    baseline: str
    summary: SummarySection
    speedups: Mapping[str, Plot]
    break_even: Mapping[str, BreakEvenView]

    def section(self, name: str) -> SummarySection | None:
        """Returns the section of this name over this baseline; None for a section that has no baseline."""
        return self.summary if name == SummarySection.name else None


@dataclass(frozen=True, slots=True)
class AnswerOver:
    """The answer to a question over some `baselines`, which all give it."""

    baselines: tuple[str, ...]
    headline: Headline


def answers_over(overview: PageMap) -> Mapping[str, tuple[AnswerOver, ...]]:
    """Returns {anchor of a comparison: its answers over all baselines of the page's control}, the answer over the
    baseline that the page begins with first. Baselines with the same answer share it."""
    comparisons = overview.analyses[overview.baseline].comparisons
    first = sorted(overview.headlines, key=lambda baseline: baseline != overview.baseline)
    answered = {}
    for place, comparison in enumerate(comparisons):
        by_text: dict[str, list[str]] = {}
        for baseline in first:
            by_text.setdefault(overview.headlines[baseline][place].text, []).append(baseline)
        answered[comparison_anchor(comparison)] = tuple(
            AnswerOver(tuple(baselines), overview.headlines[baselines[0]][place]) for baselines in by_text.values()
        )
    return answered


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
