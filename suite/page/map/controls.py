"""The page's map with its controls: what can be chosen, what the page begins with, and the data of all choices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import msgspec

from suite.page.map.cells import SIGNS, STATES, Square
from suite.page.map.means import mean_rows
from suite.page.map.metrics import METRICS, STEADY, Metric
from suite.page.map.page_map import FILTERS, Map, map_over
from suite.page.map.sentence import overall
from suite.page.sections.timed.formulations import framework
from suite.page.sections.timed.headlines import Headline, headlines
from suite.results.analysis import Analysis
from suite.results.baselines import rebased
from suite.results.ranking import ranked_stacks
from suite.verdicts.leads import Behind

Entry = list[str] | int  # a cell: [CSS classes, words, small print, note], or 0 where no choice changes it
Over = dict[str, Analysis]  # {baseline: analysis}


class Shown(msgspec.Struct):
    """The map by one metric over one baseline, as the page's script shows it. `over` is {place of a question: sentence
    on the stack that stands in for the baseline there}. `means` is {"pass|precision": top rows, each with what it is
    over}; an empty pass or precision means all."""

    caption: str
    rows: list[list[Entry]]
    over: dict[int, str]
    means: dict[str, list[tuple[str, list[Entry]]]]


class ByMetric(msgspec.Struct):
    """The maps by one metric. `ends` are the words at the two ends of the scale of colours, `own` has each stack's own
    figure, which no baseline changes. `behind` has for each question the pairs of stacks, as places, of which the first
    is shown to be slower than the second; it is empty where nothing is judged."""

    ends: tuple[str, str]
    own: list[list[str]]
    behind: list[list[list[int]]]
    maps: dict[str, Shown]


class Choices(msgspec.Struct):
    """All that the controls offer. `stacks` are the columns, `questions` the ids of the rows; `order` has the stacks of
    each question, the lowest median first. `frameworks` are those in whose languages the stacks' functions are written,
    `tracks` those of the questions."""

    stacks: list[str]
    frameworks: list[str]
    questions: list[str]
    tracks: list[str]
    signs: dict[str, str]
    decided: bool
    order: list[list[int]]
    metrics: dict[str, ByMetric]


@dataclass(frozen=True)
class PageMap:
    """The map that a page of timed processes begins with, and what its controls offer.

    A page of some stacks or questions offers only its own baseline and a steady step: verdicts over another baseline
    would belong to a smaller family. A `condensed` page offers no more, and its cells have no panels.
    """

    analysis: Analysis
    own_headlines: Sequence[Headline]
    condensed: bool = False

    @property
    def baseline(self) -> str:
        return self.analysis.baseline

    @cached_property
    def stacks(self) -> tuple[str, ...]:
        return ranked_stacks(self.analysis)

    @property
    def is_whole(self) -> bool:
        """Whether the page offers every baseline and metric."""
        return self.analysis.is_whole and not self.condensed

    @cached_property
    def baselines(self) -> tuple[str, ...]:
        """The stacks with a time that counts, and the set's own baseline, in the order of the columns."""
        comparisons = self.analysis.comparisons if self.is_whole else ()
        counting = {stack.stack for comparison in comparisons for stack in comparison.timed if stack.counts}
        return tuple(stack for stack in self.stacks if stack in {self.baseline, *counting})

    @property
    def metrics(self) -> tuple[Metric, ...]:
        return METRICS if self.is_whole else (STEADY,)

    @property
    def filters(self) -> dict[str, tuple[str, ...]]:
        """The passes and the precisions of the set; a control with a single value isn't shown."""
        heads = [comparison.head for comparison in self.analysis.comparisons]
        return {name: tuple(dict.fromkeys(head.text(name) for head in heads)) for name in FILTERS}

    @cached_property
    def by_clock(self) -> dict[str, Over]:
        clocks = dict.fromkeys(metric.clock for metric in self.metrics if metric.clock)
        return {clock: {each: rebased(self.analysis, each, clock) for each in self.baselines} for clock in clocks}

    @property
    def analyses(self) -> Over:
        """The set's analysis over each baseline that can be chosen."""
        return self.by_clock[STEADY.clock]

    @cached_property
    def headlines(self) -> dict[str, tuple[Headline, ...]]:
        own = {self.baseline: tuple(self.own_headlines)}
        return {each: own.get(each) or headlines(over) for each, over in self.analyses.items()}

    @property
    def order(self) -> list[list[str]]:
        return [[stack.stack for stack in each.timed if stack.counts] for each in self.analysis.comparisons]

    @property
    def behind(self) -> list[Behind]:
        return [comparison.behind for comparison in self.analysis.comparisons]

    @cached_property
    def shown(self) -> Map:
        return self.map_by(STEADY, self.baseline)

    @cached_property
    def sentence(self) -> str:
        return overall(self.shown, self.baseline, self.order, self.behind, decided=self.analysis.is_decided)

    def map_by(self, metric: Metric, baseline: str) -> Map:
        analysis = self.by_clock[metric.clock or STEADY.clock][baseline]
        return map_over(analysis, metric, self.stacks, linked=not self.condensed)

    @cached_property
    def data(self) -> Choices:
        return Choices(
            stacks=[*self.stacks],
            frameworks=[*map(framework, self.stacks)],
            questions=[row.anchor for row in self.shown.rows],
            tracks=[row.track for row in self.shown.rows],
            signs=SIGNS,
            decided=self.analysis.is_decided,
            order=[[self.stacks.index(stack) for stack in ranked] for ranked in self.order],
            metrics={metric.name: self.by_metric(metric) for metric in self.metrics},
        )

    def by_metric(self, metric: Metric) -> ByMetric:
        place = {stack: number for number, stack in enumerate(self.stacks)}
        maps = {baseline: self.map_by(metric, baseline) for baseline in self.baselines}
        judged = (
            self.by_clock[metric.clock][self.baseline].comparisons if metric.clock and self.analysis.is_decided else ()
        )
        return ByMetric(
            ends=metric.ends,
            own=[[square.own for square in row.squares] for row in maps[self.baseline].rows],
            behind=[
                sorted(
                    [place[slower], place[faster]]
                    for slower, faster in comparison.behind
                    if {slower, faster} <= {*place}
                )
                for comparison in judged
            ],
            maps={baseline: self.choice(metric, baseline, shown) for baseline, shown in maps.items()},
        )

    def choice(self, metric: Metric, baseline: str, shown: Map) -> Shown:
        analysis = self.by_clock[metric.clock or STEADY.clock][baseline]
        means: dict[str, list[tuple[str, list[Entry]]]] = {}
        for values in product(*(["", *some] if len(some) > 1 else [""] for some in self.filters.values())):
            fields = {name: value for name, value in zip(FILTERS, values, strict=True) if value}
            rows_of = mean_rows(analysis, metric, self.stacks, fields)
            means["|".join(values)] = [(row.over, [*map(entry, row.squares)]) for row in rows_of]
        rows = [[*map(entry, row.squares)] for row in shown.rows]
        return Shown(shown.caption, rows, {n: row.note for n, row in enumerate(shown.rows) if row.note}, means)


def entry(square: Square) -> Entry:
    """Returns a cell as the script reads it; what says how a stack ended no choice changes."""
    if square.kind in STATES:
        return 0
    return [square.css, square.words, square.small, *filter(None, [square.note])]
