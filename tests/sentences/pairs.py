"""Paired ratios, moderated intervals and verdicts over any baseline, by docs/why/statistics.md alone."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from statistics import fmean, median
from typing import Any

import numpy as np
from scipy import special

from tests.sentences.rows import Line, steady, turns

MODES, CLOSE = 1.3, 1.1
FREEDOM_MOST, VARIANCE_LEAST = 5.0, 1e-4
FREEDOMS = [*np.arange(0.5, 8.5, 0.5), 10, 12, 16, 24, 48, 1e3]
Side = tuple[str, str]  # question, stack


@dataclass(frozen=True)
class Process:
    row: Line
    seconds: float
    turns: dict[tuple[int, int], float]

    @classmethod
    def of(cls, row: Line, clock: str) -> Process | None:
        samples = steady(row, clock)
        return cls(row, median(samples), turns(row) if clock == "synced" else {}) if samples else None

    @property
    def disturbed(self) -> bool:
        return "disturbed" in self.row["flags"]

    @property
    def way(self) -> str:
        return self.row["sampling"] or "alone"


Blocks = dict[int, list[Process]]


@dataclass(frozen=True)
class Ratio:
    """A ratio with its interval (None: of one block), its verdict in its question and in its set, and its blocks."""

    value: float
    low: float | None = None
    high: float | None = None
    word: str = "undecided"
    reason: str = ""
    in_set: str = "undecided"
    logs: dict[int, float] = field(default_factory=dict)
    p: float = 1.0

    @property
    def reach(self) -> float | None:
        return None if self.low is None or self.high is None else math.sqrt(self.high / self.low)


@dataclass(frozen=True)
class Mean:
    value: float
    error: float
    freedom: float
    blocks: int

    @property
    def p(self) -> float:
        return (
            float(2 * special.stdtr(self.freedom, -abs(self.value) / self.error))
            if self.error
            else float(not self.value)
        )

    def ends(self, doubt: float) -> tuple[float, float]:
        half = float(special.stdtrit(self.freedom, 1 - doubt / 2)) * self.error
        return math.exp(max(-700.0, self.value - half)), math.exp(min(700.0, self.value + half))


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


def seconds(blocks: Blocks) -> list[float]:
    return [process.seconds for of in blocks.values() for process in of]


def has_modes(blocks: Blocks) -> bool:
    return max(seconds(blocks)) > MODES * min(seconds(blocks))


def apart(one: Blocks, other: Blocks) -> bool:
    ours, theirs = seconds(one), seconds(other)
    return min(ours) > MODES * max(theirs) or min(theirs) > MODES * max(ours)


def best_mode(blocks: Blocks) -> Blocks:
    times = seconds(blocks)
    limit = MODES * median(t for t in times if t <= MODES * min(times))
    kept = {block: [p for p in of if p.seconds <= limit] for block, of in blocks.items()}
    return {block: of for block, of in kept.items() if of}


def same_way(one: Blocks, other: Blocks) -> tuple[Blocks, Blocks]:
    """Returns the processes sampled in rounds, or those sampled alone: whichever share more blocks."""
    ways = [tuple(sampled(blocks, way) for blocks in (one, other)) for way in ("rounds", "alone")]
    first, second = max(ways, key=lambda both: len(both[0].keys() & both[1].keys()))
    return first, second


def sampled(blocks: Blocks, way: str) -> Blocks:
    kept = {block: [p for p in of if p.way == way] for block, of in blocks.items()}
    return {block: of for block, of in kept.items() if of}


def paired(stack: Blocks, baseline: Blocks) -> dict[int, float]:
    """Returns {block: ln(t_baseline / t_stack)}."""
    ours, theirs = same_way(stack, baseline)
    logs = {block: log_ratio(ours[block], theirs[block]) for block in sorted(ours.keys() & theirs.keys())}
    return {block: log for block, log in logs.items() if log is not None}


def log_ratio(stack: list[Process], baseline: list[Process]) -> float | None:
    if any(process.turns for process in [*stack, *baseline]):
        ours, theirs = in_turns(stack), in_turns(baseline)
        gaps = [theirs[turn] - ours[turn] for turn in ours.keys() & theirs.keys()]
        return median(gaps) if gaps else None
    dated = all(process.row["started_at"] for process in [*stack, *baseline])

    def when(process: Process) -> float:
        return float(process.row["started_at"].timestamp() if dated else process.row["position"])

    fewer, more = (stack, baseline) if len(stack) <= len(baseline) else (baseline, stack)
    at: dict[float, list[float]] = defaultdict(list)
    for process in more:
        at[when(process)].append(math.log(process.seconds))
    times = sorted(at)
    beside = [np.interp(when(process), times, [fmean(at[time]) for time in times]) for process in fewer]
    gap = fmean(float(b) - math.log(p.seconds) for b, p in zip(beside, fewer, strict=True))
    return gap if fewer is stack else -gap


def in_turns(processes: list[Process]) -> dict[tuple[int, int], float]:
    logs: dict[tuple[int, int], list[float]] = defaultdict(list)
    for process in processes:
        for turn, time in process.turns.items():
            logs[turn].append(math.log(time))
    return {turn: fmean(of) for turn, of in logs.items()}


def twin(processes: list[Process]) -> float | None:
    """Returns ln(t of replicate 1 / t of the others) in one block."""
    first, *rest = sorted(processes, key=lambda process: process.row["replicate"])
    others = [process for process in rest if process.way == first.way]
    if not others or first.row["replicate"] != 1:
        return None
    if first.turns:
        return log_ratio(others, [first])
    return math.log(first.seconds) - fmean(math.log(process.seconds) for process in others)


def moderated(means: dict[Any, Mean]) -> dict[Any, Mean]:
    """Draws each variance towards the common one, by Smyth's moment estimates (2004, section 6.2)."""
    if len(means) < 2:
        return means
    blocks = np.array([mean.blocks for mean in means.values()], float)
    spreads, half = np.array([mean.error**2 for mean in means.values()]) * blocks, (blocks - 1) / 2
    e = np.log(np.maximum(spreads, VARIANCE_LEAST)) - special.digamma(half) + np.log(half)
    excess = e.var(ddof=1) - special.polygamma(1, half).mean()
    fitting = [d for d in FREEDOMS if special.polygamma(1, d / 2) >= excess]
    d0 = fitting[-1] if fitting else FREEDOMS[0]
    s0 = math.exp(e.mean() + special.digamma(d0 / 2) - math.log(d0 / 2))
    weight = min(d0, FREEDOM_MOST) if fitting else 0.0
    return {
        key: Mean(
            mean.value,
            math.sqrt((weight * s0 + mean.freedom * spread) / (weight + mean.freedom) / mean.blocks),
            weight + mean.freedom,
            mean.blocks,
        )
        for (key, mean), spread in zip(means.items(), spreads, strict=True)
    }


def holm(ps: dict[Any, float]) -> dict[Any, float]:
    found, most = {}, 0.0
    for rank, key in enumerate(sorted(ps, key=lambda key: ps[key])):
        most = max(most, min(1.0, (len(ps) - rank) * ps[key]))
        found[key] = most
    return found


def word_of(low: float | None, high: float | None, tie: float) -> str:
    if low is None or high is None:
        return "undecided"
    if 1 / tie <= low and high <= tie:
        return "tie"
    if low >= 1 or high <= 1:
        return "faster" if low >= 1 else "slower"
    return "close" if low >= 1 / CLOSE and high <= CLOSE else "undecided"


def judged(
    value: float, low: float | None, high: float | None, tie: float, floor: Ratio | None, best: Ratio | None
) -> tuple[str, str]:
    """Returns the verdict, and why it is undecided although the interval alone would allow one."""
    word = word_of(low, high, tie)
    if word in ("faster", "slower") and floor and floor.low and floor.high:
        most = max(floor.high, 1 / floor.low)
        if 1 / most <= value <= most:
            return "undecided", "equal processes differ as much"
    if best and word not in ("undecided", word_of(best.low, best.high, tie)):
        return "undecided", "two modes"
    return word, ""
