"""The page's map with its controls: what can be chosen, what the page begins with, and the data of all choices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from suite.report.map.choices import choices
from suite.report.map.metrics import METRICS, STEADY, Metric
from suite.report.map.page_map import FILTERS, Map, map_over, mean_squares, ranked_stacks
from suite.report.map.sentence import Sentence, overall
from suite.report.sections.timed.headlines import Headline, leaders, leaders_by
from suite.report.sections.timed.headlines import headlines as answers
from suite.results.analysis import Analysis
from suite.results.cases.rebased import rebased

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
    sentence: Sentence | None
    data: Mapping[str, Any]
    analyses: Mapping[str, Analysis]
    headlines: Mapping[str, tuple[Headline, ...]]


def page_map(
    analysis: Analysis, headlines: Sequence[Headline], machine: Mapping[str, Any], *, condensed: bool = False
) -> PageMap | None:
    """Returns the map of a set; None without a timed process.

    A page of some stacks or questions offers only its own baseline and a steady step: verdicts over another baseline
    would belong to a smaller family. A `condensed` page offers no more, and its cells have no panels.
    """
    if not analysis.comparisons:
        return None
    stacks, whole = ranked_stacks(analysis), analysis.is_whole and not condensed
    counting = {stack.stack for comparison in analysis.comparisons for stack in comparison.stacks if stack.counts}
    baselines = tuple(stack for stack in stacks if stack == analysis.baseline or (whole and stack in counting))
    metrics = METRICS if whole else (STEADY,)
    clocks = {metric.clock or SYNCED for metric in metrics}
    by_choice = {(clock, stack): rebased(analysis, stack, clock) for clock, stack in product(clocks, baselines)}
    answered = {
        stack: tuple(headlines) if stack == analysis.baseline else answers(by_choice[SYNCED, stack])
        for stack in baselines
    }
    heads = [comparison.head for comparison in analysis.comparisons]
    passes, precisions = (tuple(dict.fromkeys(head.text(name) for head in heads)) for name in FILTERS)
    parts = parts_of(passes, precisions)
    maps, means = {}, {}
    for metric, baseline in product(metrics, baselines):
        chosen = by_choice[metric.clock or SYNCED, baseline]
        framed = leading(chosen, metric, answered[baseline])
        maps[metric.name, baseline] = map_over(chosen, metric, stacks, framed, linked=not condensed)
        means[metric.name, baseline] = {
            part: mean_squares(chosen, metric, stacks, fields) for part, fields in parts.items()
        }
    sentences = {baseline: overall(by_choice[SYNCED, baseline], answered[baseline], machine) for baseline in baselines}
    return PageMap(
        shown=maps[STEADY.name, analysis.baseline],
        baseline=analysis.baseline,
        baselines=baselines,
        passes=passes,
        precisions=precisions,
        metrics=metrics,
        sentence=sentences[analysis.baseline],
        data=choices(maps, means, sentences),
        analyses={baseline: by_choice[SYNCED, baseline] for baseline in baselines},
        headlines=answered,
    )


def leading(analysis: Analysis, metric: Metric, headlines: Sequence[Headline]) -> list[frozenset[str]]:
    """Returns the stacks that the map frames on each question, by the metric's clock and over the baseline of the
    analysis; `headlines` are the answers over it. A metric without verdicts frames none."""
    if metric.clock == SYNCED:
        return [leaders(*answered) for answered in zip(analysis.comparisons, headlines, strict=True)]
    if not metric.clock:
        return [frozenset()] * len(analysis.comparisons)
    return [leaders_by(comparison, analysis, metric.clock) for comparison in analysis.comparisons]


def parts_of(passes: Sequence[str], precisions: Sequence[str]) -> dict[str, dict[str, str]]:
    """Returns {"pass|precision": {column: value}} for each part of the questions that can be chosen; an empty pass or
    precision means all, and has no column."""
    lists = [["", *values] if len(values) > 1 else [""] for values in (passes, precisions)]
    return {
        "|".join(chosen): {name: value for name, value in zip(FILTERS, chosen, strict=True) if value}
        for chosen in product(*lists)
    }
