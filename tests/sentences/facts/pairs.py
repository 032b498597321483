"""Ratios with their verdicts over any baseline."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from statistics import fmean
from typing import Any

import numpy as np

from tests.sentences.facts.blocks import (
    Blocks,
    Process,
    Side,
    apart,
    best_mode,
    has_modes,
    paired,
    same_way,
    seconds,
    twin,
)
from tests.sentences.facts.estimates import Mean, Ratio, ended_at_1, holm, judged, moderated
from tests.sentences.facts.rows import Line, once

Ends = tuple[float | None, float | None]


@dataclass(frozen=True, eq=False)
class Pairs:
    """The processes of a set that count, by one clock, and the protocol by which they are judged."""

    sides: dict[Side, Blocks]
    protocol: dict[str, Any]
    planned: str  # the baseline that was chosen before any time was known
    one_family: bool = False
    shared: dict[Any, Any] = field(default_factory=dict)

    @classmethod
    def of(
        cls, rows: Iterable[Line], protocol: Line, planned: str, clock: str = "synced", one_family: bool = False
    ) -> Pairs:
        sides: dict[Side, Blocks] = defaultdict(lambda: defaultdict(list))
        for row in rows:
            if row["outcome"] == "ok" and (process := Process.of(row, clock)):
                sides[row["asked"], row["who"]][row["block"]].append(process)
        clean = {
            side: {block: [p for p in of if not p.disturbed] or of for block, of in blocks.items()}
            for side, blocks in sides.items()
        }
        return cls(clean, protocol, planned, one_family)

    @property
    def doubt(self) -> float:
        return float(1 - self.protocol["confidence"])

    @once
    def logs(self, baseline: str) -> dict[Side, dict[int, float]]:
        found = {
            side: paired(blocks, self.sides.get((side[0], baseline), {}))
            for side, blocks in self.sides.items()
            if side[1] != baseline
        }
        return {side: logs for side, logs in found.items() if logs}

    def mean(self, logs: dict[int, float]) -> Mean:
        values = [*logs.values()]
        first = self.protocol["blocks"] if self.protocol["blocks_max"] > self.protocol["blocks"] else len(values)
        freedom = max(1, min(len(values), first) - 1)
        return Mean(fmean(values), float(np.std(values, ddof=1)) / math.sqrt(len(values)), freedom, len(values))

    def means(self, logs: dict[Any, dict[int, float]]) -> dict[Any, Mean]:
        return {side: self.mean(of) for side, of in logs.items() if len(of) > 1}

    @once
    def moderated(self, baseline: str) -> dict[Side, Mean]:
        return moderated(self.means(self.logs(baseline)))

    @once
    def twins(self, doubt: float | None = None) -> dict[Side, Ratio]:
        """Returns each A/A twin over replicate 1 of its stack: an interval by itself, p adjusted over all twins."""
        doubt, logs = doubt or self.doubt, {}
        for side, blocks in self.sides.items():
            if of := {block: log for block, at in blocks.items() if (log := twin(at)) is not None}:
                logs[side] = of
        means: dict[Side, Mean] = {}
        for stack in {side[1] for side in logs}:
            own = self.means({side: of for side, of in logs.items() if side[1] == stack})
            both = moderated({("twin", *side): mean for side, mean in own.items()} | self.means(self.logs(stack)))
            for side, mean in own.items():
                wide = both["twin", *side]
                means[side] = Mean(mean.value, max(wide.error, mean.error), wide.freedom, mean.blocks)
        adjusted = holm({side: mean.p for side, mean in means.items()})
        return {
            side: Ratio(math.exp(means[side].value), *means[side].ends(doubt), logs=of, p=adjusted[side])
            if side in means
            else Ratio(math.exp(fmean(of.values())), logs=of)
            for side, of in logs.items()
        }

    def share(self, question: str, baseline: str) -> float:
        """Returns how many families share the error: each of n stacks could have been chosen as a baseline once times
        are known, and two families have each pair. Without a noise floor all count."""
        if baseline == self.planned or self.one_family:
            return 1.0
        number = sum(side[0] == question for side in self.sides)
        return max(1.0, number / 2 if any(side[0] == question for side in self.twins()) else number)

    @once
    def over(self, baseline: str) -> dict[Side, Ratio]:
        """Returns the ratios over a baseline."""
        logs = self.logs(baseline)
        doubts = {id_: self.doubt / self.share(id_, baseline) for id_, _ in logs}
        found, in_set = dict[Side, Ratio](), self.intervals(baseline, [*logs], min(doubts.values(), default=1.0))
        for question, doubt in doubts.items():
            family = [side for side in logs if self.one_family or side[0] == question]
            alone, floors = self.intervals(baseline, family, doubt), self.twins(doubt)
            for side in family:
                floor = floors.get((side[0], baseline)) or next((floors[of] for of in floors if of[0] == side[0]), None)
                best = self.best(side, baseline, family, doubt)
                value, tie = math.exp(fmean(logs[side].values())), self.protocol["tie_ratio"]
                word, reason = judged(value, *alone[side], tie, floor, best)
                among, _ = judged(value, *in_set[side], tie, floor, best)
                both = self.sides[side], self.sides[side[0], baseline]
                number = sum(process.disturbed for blocks in both for of in blocks.values() for process in of)
                if word != "undecided" and number:
                    word = among = "undecided"
                    which = f"{number} process{'es' * (number > 1)} of this stack or the baseline"
                    reason = f"other programs used the cores of {which}"
                found[side] = Ratio(value, *alone[side], word, reason, among, logs[side])
        return found

    def intervals(self, baseline: str, family: list[Side], doubt: float) -> dict[Side, Ends]:
        means = {side: mean for side, mean in self.moderated(baseline).items() if side in set(family)}
        known = ended_at_1(means, doubt)
        return {side: known.get(side, (None, None)) for side in family}

    def best(self, side: Side, baseline: str, family: list[Side], doubt: float) -> Ratio | None:
        """Returns the ratio of the best modes alone; None if neither stack has two modes, or if they are apart."""
        sides, known = (self.sides[side], self.sides[side[0], baseline]), self.moderated(baseline)
        ours, theirs = same_way(*sides)
        if not any(map(has_modes, sides)) or apart(ours, theirs):
            return None
        fast = fast_modes(self).moderated(baseline).get(side)
        if fast and side in known:
            ends = fast.ends(doubt / max(1, sum(each in known for each in family)))
            return Ratio(math.exp(fast.value), *ends)
        return Ratio(min(seconds(theirs)) / min(seconds(ours)))


@cache
def fast_modes(pairs: Pairs) -> Pairs:
    return Pairs({side: best_mode(of) for side, of in pairs.sides.items()}, pairs.protocol, pairs.planned)
