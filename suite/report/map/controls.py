"""The page's map with its controls: what can be chosen, what the page begins with, and the data of all choices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from suite.report.map.choices import choices
from suite.report.map.frames import behind
from suite.report.map.metrics import METRICS, STEADY, Metric
from suite.report.map.page_map import FILTERS, Map, commons, map_over, mean_squares
from suite.report.map.sentence import overall
from suite.report.sections.timed.headlines import Headline
from suite.report.sections.timed.headlines import headlines as answers
from suite.results.analysis import Analysis
from suite.results.cases.rebased import rebased
from suite.results.ranking import ranked_stacks

SYNCED = "synced"


@dataclass(frozen=True, slots=True)
class PageMap:
    """The map that the page begins with, what its controls offer, and `data`, the maps of all choices for the script.
    `passes` and `precisions` are those of the set; a control with a single value isn't shown. `analyses` has the set's
    analysis over each baseline that can be chosen, `headlines` the answers to its questions over each."""

    shown: Map
    baseline: str
    baselines: tuple[str, ...]
    passes: tuple[str, ...]
    precisions: tuple[str, ...]
    metrics: tuple[Metric, ...]
    sentence: str
    data: Mapping[str, Any]
    analyses: Mapping[str, Analysis]
    headlines: Mapping[str, tuple[Headline, ...]]


def page_map(analysis: Analysis, headlines: Sequence[Headline], *, condensed: bool = False) -> PageMap | None:
    """Returns the map of a set; None without a timed process.

    A page of some stacks or questions offers only its own baseline and a steady step: verdicts over another baseline
    would belong to a smaller family. A `condensed` page offers no more, and its cells have no panels.
    """
    if not analysis.comparisons:
        return None
    stacks, baselines = ranked_stacks(analysis), baselines_of(analysis, condensed=condensed)
    metrics = METRICS if is_whole(analysis, condensed=condensed) else (STEADY,)
    clocks = {metric.clock or SYNCED for metric in metrics}
    by_choice = {(clock, stack): rebased(analysis, stack, clock) for clock, stack in product(clocks, baselines)}
    answered = {
        stack: tuple(headlines) if stack == analysis.baseline else answers(by_choice[SYNCED, stack])
        for stack in baselines
    }
    decided = is_decided(analysis)
    pairs = {
        clock: behind((by_choice[clock, over] for over in baselines), answered.values() if clock == SYNCED else ())
        for clock in clocks
    }
    order = [[stack.stack for stack in comparison.stacks if stack.counts] for comparison in analysis.comparisons]
    heads = [comparison.head for comparison in analysis.comparisons]
    passes, precisions = (tuple(dict.fromkeys(head.text(name) for head in heads)) for name in FILTERS)
    parts = parts_of(passes, precisions)
    maps, means = {}, {}
    for metric, baseline in product(metrics, baselines):
        chosen = by_choice[metric.clock or SYNCED, baseline]
        framed = pairs[metric.clock] if metric.clock and decided else ()
        shown = maps[metric.name, baseline] = map_over(chosen, metric, stacks, framed, linked=not condensed)
        means[metric.name, baseline] = {
            part: {common: mean_squares(chosen, metric, stacks, fields, common) for common in commons(shown, fields)}
            for part, fields in parts.items()
        }
    shown = maps[STEADY.name, analysis.baseline]
    return PageMap(
        shown=shown,
        baseline=analysis.baseline,
        baselines=baselines,
        passes=passes,
        precisions=precisions,
        metrics=metrics,
        sentence=overall(shown, analysis.baseline, order, decided=decided),
        data=choices(maps, means, {metric.name: pairs[metric.clock] for metric in metrics if metric.clock and decided})
        | {"order": [[stacks.index(stack) for stack in ranked] for ranked in order]},
        analyses={baseline: by_choice[SYNCED, baseline] for baseline in baselines},
        headlines=answered,
    )


def is_decided(analysis: Analysis) -> bool:
    """Whether a set has the second block that intervals and verdicts take."""
    return len(analysis.blocks) > 1


def is_whole(analysis: Analysis, *, condensed: bool) -> bool:
    """Whether a page offers every baseline and metric."""
    return analysis.is_whole and not condensed


def baselines_of(analysis: Analysis, *, condensed: bool) -> tuple[str, ...]:
    """Returns the baselines that a page offers, in the order of the map's columns."""
    counting = {stack.stack for comparison in analysis.comparisons for stack in comparison.stacks if stack.counts}
    others = counting if is_whole(analysis, condensed=condensed) else set()
    return tuple(stack for stack in ranked_stacks(analysis) if stack in {analysis.baseline, *others})


def parts_of(passes: Sequence[str], precisions: Sequence[str]) -> dict[str, dict[str, str]]:
    """Returns {"pass|precision": {column: value}} for each part of the questions that can be chosen; an empty pass or
    precision means all, and has no column."""
    lists = [["", *values] if len(values) > 1 else [""] for values in (passes, precisions)]
    return {
        "|".join(chosen): {name: value for name, value in zip(FILTERS, chosen, strict=True) if value}
        for chosen in product(*lists)
    }
