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


def counterpart(baseline: str, stacks: Iterable[str]) -> str:
    """Returns the baseline if it is among a question's stacks, else the first by name of the same stack; or nothing."""
    alike = sorted(who for who in stacks if who.partition(":")[0] == baseline.partition(":")[0])
    return baseline if baseline in alike else "".join(alike[:1])


@dataclass(frozen=True, eq=False)
class Pairs:
    """The processes of a set that count, by one clock, and the protocol by which they are judged."""

    sides: dict[Side, Blocks]
    protocol: dict[str, Any]
    planned: dict[str, str]  # {question: the baseline that was chosen before any time was known}
    one_family: bool = False
    shared: dict[Any, Any] = field(default_factory=dict)

    @classmethod
    def of(
        cls, rows: Iterable[Line], protocol: Line, planned: str, clock: str = "synced", one_family: bool = False
    ) -> Pairs:
        sides: dict[Side, Blocks] = defaultdict(lambda: defaultdict(list))
        asked: dict[str, set[str]] = defaultdict(set)
        for row in rows:
            asked[row["asked"]].add(row["who"])
            if row["outcome"] == "ok" and (process := Process.of(row, clock)):
                sides[row["asked"], row["who"]][row["block"]].append(process)
        clean = {
            side: {block: [p for p in of if not p.disturbed] or of for block, of in blocks.items()}
            for side, blocks in sides.items()
        }
        own = {question: counterpart(planned, stacks) for question, stacks in asked.items()}
        return cls(clean, protocol, own, one_family)

    @property
    def doubt(self) -> float:
        return float(1 - self.protocol["confidence"])

    @property
    def looks(self) -> bool:
        """Whether the run was judged after each block, from the third on."""
        return bool(self.protocol.get("until") == "decided")

    @property
    def look_share(self) -> float:
        return float(self.protocol["look_share"]) if self.looks else 1.0

    @property
    def first_look(self) -> int:
        return max(3, self.protocol["blocks"]) if self.looks else 0

    def both(self, side: Side, baseline: str) -> tuple[Blocks, Blocks]:
        """Returns the processes of a stack and the baseline, without disturbed blocks if enough others are there."""
        ours, theirs = self.sides[side], self.sides.get((side[0], baseline), {})
        shared = ours.keys() & theirs.keys()
        calm = {n for n in shared if not any(process.disturbed for process in [*ours[n], *theirs[n]])}
        if not self.looks or calm == shared or len(calm) < self.first_look:
            return ours, theirs
        return {n: ours[n] for n in sorted(calm)}, {n: theirs[n] for n in sorted(calm)}

    @once
    def logs(self, baseline: str) -> dict[Side, dict[int, float]]:
        found = {side: paired(*self.both(side, baseline)) for side in self.sides if side[1] != baseline}
        return {side: logs for side, logs in found.items() if logs}

    def mean(self, logs: dict[int, float]) -> Mean:
        values = [*logs.values()]
        if self.looks:
            return Mean(
                fmean(values), float(np.std(values, ddof=1)) / math.sqrt(len(values)), len(values) - 1, len(values)
            )
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
        for side in self.sides:
            blocks, _ = self.both(side, side[1])
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
        if baseline == self.planned[question] or self.one_family:
            return 1.0
        number = sum(side[0] == question for side in self.sides)
        return max(1.0, number / 2 if any(side[0] == question for side in self.twins()) else number)

    @once
    def over(self, baseline: str) -> dict[Side, Ratio]:
        """Returns the ratios over a baseline. If the run was judged after each block, every ratio is as after the last
        block that both stacks have."""
        shares = {id_: self.share(id_, baseline) for id_, _ in self.logs(baseline)}
        if not self.looks:
            return self.at_once(baseline, shares)
        last = {
            side: max(self.sides[side].keys() & self.sides[side[0], baseline].keys()) for side in self.logs(baseline)
        }
        then = {block: self.until(block).at_once(baseline, shares) for block in {*last.values()}}
        return {side: then[block][side] for side, block in last.items()}

    def until(self, block: int) -> Pairs:
        sides = {side: {n: of for n, of in blocks.items() if n <= block} for side, blocks in self.sides.items()}
        return Pairs({side: of for side, of in sides.items() if of}, self.protocol, self.planned, self.one_family)

    def at_once(self, baseline: str, shares: dict[str, float]) -> dict[Side, Ratio]:
        logs, look = self.logs(baseline), self.look_share
        doubts = {id_: self.doubt / shares[id_] for id_, _ in logs}
        found, in_set = dict[Side, Ratio](), self.intervals(baseline, [*logs], look * min(doubts.values(), default=1.0))
        for question, doubt in doubts.items():
            family = [side for side in logs if self.one_family or side[0] == question]
            alone, floors = self.intervals(baseline, family, look * doubt), self.twins(doubt)
            for side in family:
                floor = floors.get((side[0], baseline)) or next((floors[of] for of in floors if of[0] == side[0]), None)
                best = self.best(side, baseline, family, look * doubt)
                value, tie = math.exp(fmean(logs[side].values())), self.protocol["tie_ratio"]
                word, reason = judged(value, *alone[side], tie, floor, best)
                among, _ = judged(value, *in_set[side], tie, floor, best)
                both = self.both(side, baseline)
                number = sum(process.disturbed for blocks in both for of in blocks.values() for process in of)
                if word != "undecided" and number:
                    word = among = "undecided"
                    which = f"{number} process{'es' * (number > 1)} of this stack or the baseline"
                    reason = f"other programs used the cores of {which}"
                if word != "undecided" and len(logs[side]) < self.first_look:
                    word = among = "undecided"
                    reason = f"{len(logs[side])} of the {self.first_look} blocks that a first verdict takes"
                found[side] = Ratio(value, *alone[side], word, reason, among, logs[side])
        return found

    def intervals(self, baseline: str, family: list[Side], doubt: float) -> dict[Side, Ends]:
        means = {side: mean for side, mean in self.moderated(baseline).items() if side in set(family)}
        known = ended_at_1(means, doubt)
        return {side: known.get(side, (None, None)) for side in family}

    def best(self, side: Side, baseline: str, family: list[Side], doubt: float) -> Ratio | None:
        """Returns the ratio of the best modes alone; None if neither stack has two modes, or if they are apart."""
        sides, known = self.both(side, baseline), self.moderated(baseline)
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
