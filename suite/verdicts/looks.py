"""What a run that measures until it is decided has decided so far, and what the rest would take.

A run that looks at its verdicts after every block would find a false one sooner or later, at 95 % each time. So every
look has the same stricter level (Pocock, Biometrika 64, 1977), and the intervals shown are those of the look: all of
them together contain the truth with 95 % probability ("repeated confidence intervals": Jennison & Turnbull, Journal of
the Royal Statistical Society B 51, 1989). docs/why/statistics.md says why this rule and not another.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from suite.stats import CLOSE, reach
from suite.verdicts.grouping import grouped
from suite.verdicts.pairing import Side, all_seconds
from suite.verdicts.speedups import Pairing, planned_baselines
from suite.verdicts.verdicts import Speedup

UNSURE = "undecided"


@dataclass(frozen=True, slots=True)
class Standing:
    """A question as a run sees it after a block: its ratios over one baseline, and the stacks that `go_on`, since
    something isn't decided yet."""

    comparison_id: str
    name: str
    baseline: str
    speedups: Sequence[Speedup]
    go_on: frozenset[str] = frozenset()

    @property
    def unsure(self) -> list[Speedup]:
        return [speedup for speedup in self.speedups if speedup.verdict == UNSURE]

    @property
    def waits(self) -> bool:
        """Whether what is unsure is so, at least, because other programs disturbed it."""
        return bool(self.unsure) and all(speedup.disturbed for speedup in self.unsure)

    @property
    def order(self) -> list[str]:
        """The stacks with a ratio, and the baseline, the fastest first."""
        ratios = {speedup.stack: speedup.ratio.value for speedup in self.speedups} | {self.baseline: 1.0}
        return sorted(ratios, key=lambda stack: -ratios[stack])


def standings(pairing: Pairing) -> list[Standing]:
    """Returns how every question stands that has a time, in the order of their names.

    A question is finished when all its ratios over the baseline have a verdict. Before that, a stack leaves it that has
    a verdict over the baseline and another over the leader, the stack with the greatest ratio; these two stay, since
    the others are compared with them.
    """
    of_question = grouped(pairing.timings, lambda side: side[0])
    found = [standing(pairing, sides) for sides in of_question.values()]
    return sorted(found, key=lambda one: one.name)


def standing(pairing: Pairing, sides: Sequence[Side]) -> Standing:
    question, stacks = sides[0][0], {stack for _, stack in sides}
    planned = planned_baselines(pairing)[question]
    baseline = planned if planned in stacks else fastest(pairing, sides)
    speedups = [each for (asked, _), each in pairing.over(baseline).items() if asked == question]
    found = Standing(question, pairing.names[question], baseline, speedups)
    if not found.unsure:
        return found
    sure = {*found.order[1:]} - {baseline, *(speedup.stack for speedup in found.unsure)}
    over_leader = pairing.over(found.order[0]) if sure else {}
    left = {stack for stack in sure if (of := over_leader.get((question, stack))) and of.verdict != UNSURE}
    return replace(found, go_on=frozenset({*found.order} - left))


def fastest(pairing: Pairing, sides: Sequence[Side]) -> str:
    """Returns the stack that stands in for a baseline without a time that counts."""
    return min(sides, key=lambda side: fmean(map(math.log, all_seconds(pairing.timings[side]))))[1]


def blocks_to_go(speedup: Speedup) -> tuple[float, float] | None:
    """Returns (the half-width, as a factor, at which an undecided ratio has a verdict, if it stays what it is; how many
    more blocks that takes). An interval's width falls with the square root of the number of blocks. None where more
    blocks alone don't decide: with two modes, and inside the noise floor."""
    width = reach(speedup.ratio)
    if speedup.reason or not width:
        return None
    distance = abs(math.log(speedup.ratio.value))
    needed = max(distance, math.log(CLOSE) - distance)  # excludes 1, or lies inside the band of `close`
    return math.exp(needed), speedup.ratio.blocks * ((math.log(width) / needed) ** 2 - 1)
