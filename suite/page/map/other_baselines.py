"""The page over every baseline that a reader can choose; it hides a part until its baseline is chosen."""

from __future__ import annotations

from suite.page.map.controls import PageMap
from suite.page.sections.labels import comparison_anchor
from suite.page.sections.registry import sections_over
from suite.page.sections.section import AnswerSection, Context
from suite.page.sections.timed.headlines import Headline
from suite.results import Results
from suite.results.frame import Frame


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


def other_baselines(overview: PageMap, results: Results) -> dict[str, dict[str, AnswerSection]]:
    """Returns {name of a section: {baseline: the section}} of the sections that a choice of the baseline changes, over
    every baseline of the page's control but the one that the page begins with."""
    others: dict[str, dict[str, AnswerSection]] = {}
    for baseline, analysis in overview.analyses.items():
        if baseline != overview.baseline:
            context = Context(Frame(results, analysis), overview.headlines[baseline])
            for section in sections_over(context):
                others.setdefault(section.name, {})[baseline] = section
    return others
