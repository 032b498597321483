"""The page's map with its controls: what can be chosen, what the page begins with, and the data of all choices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any

from suite.answers.figures.figure import Figure
from suite.answers.figures.ratios import SIGNS
from suite.page.map.cells import NOTHING, STATES, Square
from suite.page.map.frameworks import best, best_dots
from suite.page.map.means import mean_rows
from suite.page.map.metrics import METRICS, STEADY, Metric
from suite.page.map.page_map import FILTERS, Map, map_over, map_row
from suite.page.map.sentence import overall
from suite.page.sections.labels import comparison_anchor
from suite.page.sections.timed.formulations import framework
from suite.page.sections.timed.headlines import Headline, headlines
from suite.results.analysis import Analysis
from suite.results.baselines import rebased
from suite.results.ranking import ranked_stacks
from suite.stacks.names import counterpart
from suite.verdicts.grouping import grouped

DOTS_MOST = 6  # questions of a page that begins with a figure of each; one of more begins with the map
BY_FRAMEWORK = "Each framework has its best stack by a steady step; above 1× is ahead of the baseline's framework."
NO_PAIR = "No two frameworks are judged with the same formulation here."

Over = dict[str, Analysis]  # {baseline: analysis}
Cell = dict[str, str]
Data = dict[str, Any]


@dataclass(frozen=True)
class PageMap:
    """The map that a page of timed processes begins with, and what its controls offer.

    A page of some stacks or questions offers only its own baseline and a steady step: verdicts over another baseline
    would belong to a smaller family. A `condensed` page offers no more, and its cells have no panels.
    """

    analysis: Analysis
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
        counting = {stack.stack for comparison in comparisons for stack in comparison.counting}
        return tuple(stack for stack in self.stacks if stack in {self.baseline, *counting})

    @property
    def choices(self) -> dict[str, str]:
        """Returns {baseline: what a reader chooses it by}. Counterparts are one choice, which has a function in its
        name only where that tells it from others."""
        asked = [[case.stack for case in comparison.cases] for comparison in self.analysis.comparisons]
        found: dict[tuple[str, ...], str] = {}
        for stack in (self.baseline, *self.baselines):
            found.setdefault(tuple(counterpart(stack, stacks) for stacks in asked), stack)
        words = {stack: self.analyses[stack].baseline_words for stack in self.baselines if stack in found.values()}
        shared = Counter(words.values())
        return {stack: name if shared[name] == 1 else stack for stack, name in words.items()}

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
        return {baseline: headlines(over) for baseline, over in self.analyses.items()}

    @cached_property
    def shown(self) -> Map:
        return self.map_by(STEADY, self.baseline)

    @property
    def has_dots(self) -> bool:
        """Whether the page begins with a figure of each question, and has the map folded below."""
        return not self.condensed and len(self.analysis.comparisons) <= DOTS_MOST

    @cached_property
    def best(self) -> dict[str, dict[str, list[tuple[str, str]]]]:
        """Returns {baseline: {anchor of a question: (framework, its best stack)}}, the baseline's framework first; none
        where a page has one baseline, or no question has two frameworks."""
        found = {
            baseline: {
                comparison_anchor(each): [(name, case.stack) for name, case, _ in best(each, over.pairing)]
                for each in over.comparisons
            }
            for baseline, over in (self.analyses.items() if self.is_whole else ())
        }
        return found if any(found.get(self.baseline, {}).values()) else {}

    @cached_property
    def by_framework(self) -> Map:
        """The map of frameworks: each cell is that of the framework's best stack over that of the baseline's."""
        every = {stack: name for of in self.best.values() for found in of.values() for name, stack in found}
        names, rows = tuple(dict.fromkeys(every[stack] for stack in self.stacks if stack in every)), []
        for place, row in enumerate(self.shown.rows):
            found = dict(self.best[self.baseline][row.anchor])
            over = self.analyses[next(iter(found.values()), self.baseline)]
            ours = map_row(STEADY, over.comparisons[place], self.stacks, over, linked=not self.condensed)
            cells = dict(zip(self.stacks, ours.squares, strict=True))
            squares = tuple(replace(cells[found[name]], of=found[name]) if name in found else NOTHING for name in names)
            rows.append(replace(row, squares=squares, note="" if found else NO_PAIR))
        return replace(
            self.shown,
            columns=names,
            rows=tuple(rows),
            means=(),
            caption=f"{STEADY.words.capitalize()}. {BY_FRAMEWORK}",
        )

    @cached_property
    def best_dots(self) -> list[list[tuple[list[str], Figure | None]]]:
        """Of each question the figures of its frameworks, each with the baselines over which it is the same."""
        tie, made = self.analysis.protocol.tie_ratio, []
        for place, each in enumerate(self.analysis.comparisons):
            found = {baseline: str(of[comparison_anchor(each)]) for baseline, of in self.best.items()}
            alike = [(names, self.analyses[names[0]]) for names in grouped(found, found.__getitem__).values()]
            made.append([(names, best_dots(over.comparisons[place], over.pairing, tie)) for names, over in alike])
        return made

    @cached_property
    def sentence(self) -> str:
        return overall(self.analysis, self.stacks)

    def over(self, metric: Metric, baseline: str) -> Analysis:
        return self.by_clock[metric.clock or STEADY.clock][baseline]

    def map_by(self, metric: Metric, baseline: str) -> Map:
        return map_over(self.over(metric, baseline), metric, self.stacks, linked=not self.condensed)

    @cached_property
    def data(self) -> Data:
        """What the page's script shows, by names. A question, by its id, has its track, and its stacks with times that
        count, the lowest median first (`ranked`). `frameworks` are those in whose languages the stacks' functions are
        written."""
        return {
            "stacks": self.stacks,
            "frameworks": {stack: framework(stack) for stack in self.stacks},
            "best": self.best,
            "questions": {
                comparison_anchor(each): {
                    "track": each.head.text("track"),
                    "ranked": [case.stack for case in each.counting],
                }
                for each in self.analysis.comparisons
            },
            "signs": SIGNS,
            "decided": self.analysis.is_decided,
            "metrics": {metric.name: self.by_metric(metric) for metric in self.metrics},
        }

    def by_metric(self, metric: Metric) -> Data:
        """Returns the maps of a metric over each baseline. `ends` are the words at the two ends of the scale of
        colours. By question, `own` has each stack's own figure, which no baseline changes, and `behind` the pairs of
        stacks of which the first is shown to be slower than the second; it is null where nothing is judged."""
        maps = {baseline: self.map_by(metric, baseline) for baseline in self.baselines}
        compared = self.over(metric, self.baseline).comparisons
        is_judged = metric.clock and self.analysis.is_decided
        return {
            "ends": metric.ends,
            "own": {
                row.anchor: {stack: square.own for stack, square in zip(self.stacks, row.squares, strict=True)}
                for row in maps[self.baseline].rows
            },
            "behind": {comparison_anchor(each): sorted(each.behind) for each in compared} if is_judged else None,
            "maps": {baseline: self.choice(metric, baseline, shown) for baseline, shown in maps.items()},
        }

    def choice(self, metric: Metric, baseline: str, shown: Map) -> Data:
        """Returns a map over a baseline. `over` says of a question which stack stands in for the baseline there.
        `means` has the top rows by "pass|precision"; an empty pass or precision means all."""
        analysis, means = self.over(metric, baseline), {}
        for values in product(*(["", *some] if len(some) > 1 else [""] for some in self.filters.values())):
            fields = {name: value for name, value in zip(FILTERS, values, strict=True) if value}
            rows = mean_rows(analysis, metric, self.stacks, fields)
            means["|".join(values)] = [{"over": row.over, "cells": self.cells(row.squares)} for row in rows]
        return {
            "caption": shown.caption,
            "name": analysis.baseline_words,
            "cells": {row.anchor: self.cells(row.squares) for row in shown.rows},
            "over": {row.anchor: row.note for row in shown.rows if row.note},
            "means": means,
        }

    def cells(self, squares: Sequence[Square]) -> dict[str, Cell]:
        """Returns {stack: its cell}, without those that say how a stack ended, which no choice changes."""
        return {
            stack: {name: getattr(square, name) for name in ("css", "words", "small", "note")}
            for stack, square in zip(self.stacks, squares, strict=True)
            if square.kind not in STATES
        }
