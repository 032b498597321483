"""The parts of the sections over every baseline that a reader can choose; the page hides a part until its baseline is
chosen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from suite.answers.answer import ASKED, Answer
from suite.answers.comparisons import speedups
from suite.answers.figures.figure import Figure
from suite.page.map.controls import PageMap
from suite.page.sections.labels import comparison_anchor
from suite.page.sections.timed.headlines import Headline
from suite.results import Results
from suite.results.frame import Frame


@dataclass(frozen=True, slots=True)
class OtherBaseline:
    """A baseline. `speedups` has the figure of the speedups over it, keyed by the comparison's anchor, `answers` what
    the answers find over it, by name."""

    baseline: str
    speedups: Mapping[str, Figure]
    answers: Mapping[str, Answer]

    def heading(self, name: str) -> str:
        return ASKED[name].heading.format(baseline=self.baseline)


def answers_over(overview: PageMap) -> dict[str, list[tuple[list[str], Headline]]]:
    """Returns {anchor of a comparison: its different answers, each with the baselines over which it is given}, the
    answer over the baseline that the page begins with first."""
    first = sorted(overview.headlines, key=lambda baseline: baseline != overview.baseline)
    answered = {}
    for place, comparison in enumerate(overview.analysis.comparisons):
        by_text: dict[str, tuple[list[str], Headline]] = {}
        for baseline in first:
            headline = overview.headlines[baseline][place]
            by_text.setdefault(headline.text, ([], headline))[0].append(baseline)
        answered[comparison_anchor(comparison)] = [*by_text.values()]
    return answered


def other_baselines(overview: PageMap, results: Results) -> tuple[OtherBaseline, ...]:
    """Returns the parts over every baseline of the page's control but the one that the page begins with."""
    others = []
    for baseline, analysis in overview.analyses.items():
        if baseline == overview.baseline:
            continue
        frame, tie = Frame(results, analysis), analysis.protocol.tie_ratio
        lines = frame.stacks.partition_by("question", as_dict=True)
        figures = {
            anchor: speedups(comparison, lines[comparison.name,], anchor, tie)
            for comparison in analysis.comparisons
            for anchor in [comparison_anchor(comparison)]
        }
        over = ((asked, asked.function(frame)) for asked in ASKED.values() if asked.over_baselines)
        drawn = {anchor: figure for anchor, figure in figures.items() if figure}
        others.append(OtherBaseline(baseline, drawn, {asked.name: found for asked, found in over if found}))
    return tuple(others)
