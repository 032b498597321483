"""Ratios with their verdicts over any baseline."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from statistics import fmean
from typing import Any

import numpy as np

from tests.sentences.blocks import Blocks, Process, Side, apart, best_mode, has_modes, paired, same_way, seconds, twin
from tests.sentences.estimates import Mean, Ratio, holm, judged, moderated
from tests.sentences.rows import Line


@dataclass(frozen=True, eq=False)
class Pairs:
    """The processes of a set that count, by one clock, and the protocol by which they are judged."""

    sides: dict[Side, Blocks]
    protocol: dict[str, Any]
    one_family: bool = False

    @classmethod
    def of(cls, rows: Iterable[Line], protocol: dict[str, Any], clock: str = "synced", **words: bool) -> Pairs:
        sides: dict[Side, Blocks] = defaultdict(lambda: defaultdict(list))
        for row in rows:
            if row["outcome"] == "ok" and (process := Process.of(row, clock)):
                sides[row["asked"], row["who"]][row["block"]].append(process)
        clean = {
            side: {block: [p for p in of if not p.disturbed] or of for block, of in blocks.items()}
            for side, blocks in sides.items()
        }
        return cls(clean, protocol, **words)

    @property
    def doubt(self) -> float:
        return float(1 - self.protocol["confidence"])

    @cache  # noqa: B019  # a set lives as long as its test
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

    @cache  # noqa: B019
    def moderated(self, baseline: str) -> dict[Side, Mean]:
        return moderated(self.means(self.logs(baseline)))

    @cache  # noqa: B019
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

    @cache  # noqa: B019
    def over(self, baseline: str, share: float = 1.0, only: frozenset[str] | None = None) -> dict[Side, Ratio]:
        """Returns the ratios over a baseline; `share` families share the error, `only` some stacks make the family."""
        doubt = self.doubt / share
        logs = {side: of for side, of in self.logs(baseline).items() if only is None or side[1] in only}
        floors = {question: ratio for (question, _), ratio in self.twins(doubt).items()}
        found, among = dict[Side, Ratio](), self.intervals(baseline, [*logs], doubt)
        for question in dict.fromkeys(side[0] for side in logs):
            family = [side for side in logs if self.one_family or side[0] == question]
            alone = self.intervals(baseline, family, doubt)
            for side in family:
                floor, best = floors.get(side[0]), self.best(side, baseline, family, doubt)
                ours, theirs = self.sides[side], self.sides[side[0], baseline]
                if best and apart(*same_way(ours, theirs)):
                    best = None
                (low, high), (set_low, set_high) = alone[side], among[side]
                value, tie = math.exp(fmean(logs[side].values())), self.protocol["tie_ratio"]
                word, reason = judged(value, low, high, tie, floor, best)
                in_set, _ = judged(value, set_low, set_high, tie, floor, best)
                disturbed = sum(p.disturbed for blocks in (ours, theirs) for of in blocks.values() for p in of)
                if disturbed and word != "undecided":
                    word = in_set = "undecided"
                    reason = "other programs used the cores"
                found[side] = Ratio(value, low, high, word, reason, in_set, logs[side])
        return found

    def intervals(
        self, baseline: str, family: list[Side], doubt: float
    ) -> dict[Side, tuple[float | None, float | None]]:
        """Returns simultaneous intervals; one whose adjusted p excludes 1 while the interval doesn't is ended at 1."""
        means = {side: mean for side, mean in self.moderated(baseline).items() if side in set(family)}
        adjusted = holm({side: mean.p for side, mean in means.items()})
        found: dict[Side, tuple[float | None, float | None]] = dict.fromkeys(family, (None, None))
        for side, mean in means.items():
            low, high = mean.ends(doubt / len(means))
            if adjusted[side] <= doubt:
                low, high = (max(low, 1.0), high) if mean.value > 0 else (low, min(high, 1.0))
            found[side] = low, high
        return found

    def best(self, side: Side, baseline: str, family: list[Side], doubt: float) -> Ratio | None:
        """Returns the ratio of the best modes alone; None if neither stack has two modes."""
        sides = self.sides[side], self.sides[side[0], baseline]
        if not any(map(has_modes, sides)):
            return None
        size = sum(each in self.moderated(baseline) for each in family)
        fast = fast_modes(self).moderated(baseline).get(side)
        if fast and side in self.moderated(baseline):
            return Ratio(
                math.exp(fast.value), *fast.ends(doubt / max(1, size)), logs=dict.fromkeys(range(fast.blocks), 0.0)
            )
        one, other = (min(seconds(blocks)) for blocks in same_way(*sides))
        return Ratio(other / one)


@cache
def fast_modes(pairs: Pairs) -> Pairs:
    return Pairs({side: best_mode(blocks) for side, blocks in pairs.sides.items()}, pairs.protocol)
