"""Turns paired processes into ratios with verdicts, over any baseline. docs/why/statistics.md has the rules."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from statistics import fmean

from suite.protocol import Protocol
from suite.sets.rows import Row, check_clock, counted_timed
from suite.stacks.names import counterpart
from suite.stats import Estimate, Mean, blocks_needed, has_modes, holm, is_doubtful, verdict
from suite.verdicts.family import doubt_of_each, stepped_down
from suite.verdicts.grouping import grouped
from suite.verdicts.moderation import moderate
from suite.verdicts.pairing import (
    Logs,
    Side,
    Timings,
    all_apart,
    all_seconds,
    best_mode,
    block_timings,
    counting,
    same_way,
    twin_log_ratios,
)
from suite.verdicts.ratios import Ratios, means_of, over
from suite.verdicts.verdicts import Speedup, judge


@dataclass(frozen=True, eq=False)
class Pairing:
    """The processes that count, timed by one clock: what is judged, over any baseline."""

    timings: Mapping[Side, Timings]
    names: Mapping[str, str]  # {comparison_id: the question's name}
    stacks: frozenset[str]  # every stack with a row, even one without times
    protocol: Protocol
    baseline: str  # that the run was planned with; every other one is chosen by somebody who knows the times
    clock: str = "synced"
    one_family: bool = False  # whether all questions together are one family, in place of each by itself
    rows: Sequence[Row] = ()  # that were paired

    @classmethod
    def of(cls, rows: Iterable[Row], protocol: Protocol, baseline: str, clock: str = "synced") -> Pairing:
        """Returns the pairing of the rows of a set that count. Raises UserError for an unknown clock, and for rows of
        two machines."""
        check_clock(clock)
        timed = counted_timed(rows)
        names = {row["comparison_id"]: row for row in timed}
        return cls(
            block_timings(timed, clock),
            {question: row.comparison_name for question, row in names.items()},
            frozenset(row.stack_name for row in timed),
            protocol,
            baseline,
            clock,
            rows=timed,
        )

    def by(self, clock: str) -> Pairing:
        """Returns the pairing of the same processes by another clock."""
        return self if clock == self.clock else by_clock(self, clock)

    def over(self, baseline: str) -> Mapping[Side, Speedup]:
        """Returns the speedup of every stack on every question over a baseline.

        The ratios of a question are one family: other questions of the set don't change its verdicts. `in_set` is
        judged with all ratios of the set as one family. A baseline that the run wasn't planned with is chosen by
        somebody who knows the times, so the families of all that could be chosen share the error probability
        (`shares`).
        """
        return over_baseline(self, baseline)

    def level(self, question: str, baseline: str) -> float:
        """Returns the confidence of a question's family over a baseline."""
        stacks = sum(side[0] == question for side in self.timings)
        is_planned = self.one_family or baseline == planned_baselines(self)[question]
        sharing = 1.0 if is_planned else shares(stacks, has_floor=question in floored(self))
        return 1 - (1 - self.protocol.confidence) / sharing

    def families(self, sides: Iterable[Side]) -> list[list[Side]]:
        """Returns the sides that are judged together."""
        return [*grouped(sides, lambda side: "" if self.one_family else side[0]).values()]

    def twins(self, confidence: float | None = None) -> tuple[Speedup, ...]:
        """Returns the ratios of the A/A twins, each over replicate 1 of the same stack. Their intervals are the noise
        floors of the set's questions.

        Each interval holds by itself. p is adjusted for all twins, and a twin is `faster` or `slower` only if its p is
        small enough: on a quiet machine, a set has such a twin with a probability of at most 1 - confidence.
        """
        return twins_at(self, confidence or self.protocol.confidence)

    def blocks_needed(self) -> int:
        """Returns how many blocks, both stages together, the ratios over the baseline need."""
        protocol, planned = self.protocol, planned_baselines(self)
        means: dict[Side, Mean] = {
            side: mean
            for baseline in dict.fromkeys(planned.values())
            for side, mean in ratios_over(self, baseline).means.items()
            if planned[side[0]] == baseline
        }
        widths = [
            means[side].ratio(doubt_of_each(protocol.confidence, len(family)))
            for family in self.families(means)
            for side in family
        ]
        return blocks_needed(widths, protocol.blocks, protocol.blocks_max, protocol.tie_ratio)


@lru_cache(maxsize=64)
def planned_baselines(pairing: Pairing) -> Mapping[str, str]:
    """Returns {question: the baseline that it was planned with}: the run's, or its counterpart among the question's own
    functions; empty if there is none."""
    asked: dict[str, set[str]] = {}
    for question, stack in (*pairing.timings, *((row.text("comparison_id"), row.stack_name) for row in pairing.rows)):
        asked.setdefault(question, set()).add(stack)
    return {question: counterpart(pairing.baseline, stacks) for question, stacks in asked.items()}


def shares(stacks: int, *, has_floor: bool = True) -> float:
    """Returns the number of families that share the error probability where a baseline was chosen by the times that it
    is then judged by: each of the stacks could have been chosen. Two families have each pair, once from either side, so
    half as many share. Where no twin of the baseline gives a noise floor, which holds small differences back, all do.
    """
    return max(1.0, stacks / 2 if has_floor else stacks)


@lru_cache(maxsize=64)
def floored(pairing: Pairing) -> frozenset[str]:
    """Returns the questions with an A/A twin."""
    return frozenset(question for (question, _), timings in pairing.timings.items() if twin_log_ratios(timings))


@lru_cache(maxsize=64)
def by_clock(pairing: Pairing, clock: str) -> Pairing:
    return Pairing.of(pairing.rows, pairing.protocol, pairing.baseline, clock)


@lru_cache(maxsize=256)
def over_baseline(pairing: Pairing, baseline: str) -> Mapping[Side, Speedup]:
    sides = [*ratios_over(pairing, baseline).logs]
    if not pairing.protocol.until_decided:
        return judged(pairing, baseline, sides, lambda question: pairing.level(question, baseline))
    found: dict[Side, Speedup] = {}
    for block, of_look in grouped(sides, lambda side: last_look(pairing, side, baseline)).items():
        look = at_look(pairing, block)
        at_it = [*ratios_over(look, baseline).logs]
        every = judged(look, baseline, at_it, lambda question: pairing.level(question, baseline))
        found |= {side: every[side] for side in of_look}
    return {side: found[side] for side in sides}


def last_look(pairing: Pairing, side: Side, baseline: str) -> int:
    """Returns the last block that a stack shares with the baseline. The look after it decided their ratio: what other
    stacks showed in later blocks, and how much they varied, doesn't change it."""
    return max(pairing.timings[side].keys() & pairing.timings[side[0], baseline].keys())


@lru_cache(maxsize=64)
def at_look(pairing: Pairing, block: int) -> Pairing:
    """Returns the pairing as it was after a block."""
    if all(number <= block for timings in pairing.timings.values() for number in timings):
        return pairing  # with all that is known of it
    seen = {
        side: {number: processes for number, processes in timings.items() if number <= block}
        for side, timings in pairing.timings.items()
    }
    return replace(pairing, timings={side: timings for side, timings in seen.items() if timings})


def judged(
    pairing: Pairing, baseline: str, sides: Sequence[Side], level: Callable[[str], float]
) -> Mapping[Side, Speedup]:
    """Returns the speedups of these sides over a baseline; `level` is the confidence of each question's family, of
    which each look has a share if the run is judged after every block."""
    ratios, at_a_look = ratios_over(pairing, baseline), pairing.protocol.at_a_look
    in_set = estimates(ratios, sides, at_a_look(max((level(question) for question, _ in sides), default=1.0)))
    found = {}
    for family in pairing.families(sides):
        confidence = level(family[0][0])
        doubt = doubt_of_each(at_a_look(confidence), len(ratios.means.keys() & {*family}))
        twins = sorted(pairing.twins(confidence), key=lambda twin: twin.stack == baseline)  # the baseline's own counts
        floors = {twin.comparison_id: twin.ratio for twin in twins}
        for side, ratio in estimates(ratios, family, at_a_look(confidence)).items():
            best = best_ratio(pairing, side, baseline, doubt)
            found[side] = speedup(pairing, side, baseline, (ratio, in_set[side]), best, floors.get(side[0]))
    return {side: found[side] for side in sides}


@lru_cache(maxsize=256)
def ratios_over(pairing: Pairing, baseline: str) -> Ratios:
    """Returns every stack over the baseline. A page judges its questions one by one, over each of its stacks."""
    return over(pairing.timings, baseline, pairing.protocol)


@lru_cache(maxsize=256)
def twins_at(pairing: Pairing, level: float) -> tuple[Speedup, ...]:
    logs = {side: by_block for side, timings in pairing.timings.items() if (by_block := twin_of(pairing, timings))}
    means = floors(pairing, logs)
    adjusted = dict(zip(means, holm([mean.p for mean in means.values()]), strict=True))
    found = []
    for side, by_block in logs.items():
        ratio = replace(means[side].ratio(1 - level), p=adjusted[side]) if side in means else single(by_block)
        word = verdict(ratio, pairing.protocol.tie_ratio)
        if word in ("faster", "slower") and not is_doubtful(ratio, level):
            word = "undecided"
        question, stack = side
        found.append(Speedup(question, pairing.names[question], stack, stack, ratio, word, by_block, in_set=word))
    return tuple(found)


def twin_of(pairing: Pairing, timings: Timings) -> Logs:
    return twin_log_ratios(counting(timings, timings, pairing.protocol)[0])


@lru_cache(maxsize=8)
def best_modes(pairing: Pairing) -> Pairing:
    """Returns the pairing of the processes in their best modes alone."""
    return replace(pairing, timings={side: best_mode(timings) for side, timings in pairing.timings.items()})


def estimates(ratios: Ratios, family: Collection[Side], confidence: float) -> dict[Side, Estimate]:
    """Estimates the ratios of a family; a ratio of one block has no interval."""
    known = {side: ratios.means[side] for side in family if side in ratios.means}
    return {side: single(ratios.logs[side]) for side in family} | stepped_down(known, confidence)


def single(logs: Logs) -> Estimate:
    """Returns a ratio without an interval."""
    return Estimate(math.exp(fmean(logs.values())), blocks=len(logs))


def best_ratio(pairing: Pairing, side: Side, baseline: str, doubt: float) -> Estimate | None:
    """Estimates the ratio of the best modes alone, with an interval that misses it with probability `doubt`; None if
    neither the stack nor the baseline has two modes.

    Best modes that share fewer than two blocks have the ratio of the fastest processes, without an interval.
    """
    ours, theirs = counting(pairing.timings[side], pairing.timings[side[0], baseline], pairing.protocol)
    if not has_modes(all_seconds(ours)) and not has_modes(all_seconds(theirs)):
        return None
    mean = ratios_over(best_modes(pairing), baseline).means.get(side)
    if mean and side in ratios_over(pairing, baseline).means:
        return mean.ratio(doubt)
    one, other = (min(all_seconds(timings)) for timings in same_way(ours, theirs))
    return Estimate(other / one)


def floors(pairing: Pairing, twins: Mapping[Side, Logs]) -> dict[Side, Mean]:
    """Returns the mean log-ratios of A/A twins of two blocks or more, with the errors that make their noise floors.

    The stack's ratios on other questions, and the ratios over it, show which spread is usual. But a noise floor must
    not be too narrow: it is as wide as its own blocks make it, or wider if others vary more.
    """
    found: dict[Side, Mean] = {}
    for stack, sides in grouped(twins, lambda side: side[1]).items():
        own = means_of({side: twins[side] for side in sides}, pairing.protocol)
        beside = means_of(ratios_over(pairing, stack).logs, pairing.protocol)
        moderated = moderate(own | beside)
        found |= {side: replace(moderated[side], error=max(moderated[side].error, own[side].error)) for side in own}
    return found


def speedup(
    pairing: Pairing,
    side: Side,
    baseline: str,
    ratios: tuple[Estimate, Estimate],
    best: Estimate | None,
    floor: Estimate | None,
) -> Speedup:
    """Returns a speedup with two verdicts. `ratios` are the ratio estimated among its question's, and among all of the
    set."""
    (question, stack), protocol = side, pairing.protocol
    tie, logs = protocol.tie_ratio, ratios_over(pairing, baseline).logs[side]
    timings = counting(pairing.timings[side], pairing.timings[question, baseline], protocol)
    noise = {"equal processes differ as much": floor} if floor else {}
    second_opinion = None if best is None or all_apart(*same_way(*timings)) else best
    (word, reason), (in_set, _) = (judge(ratio, tie, noise, second_opinion) for ratio in ratios)
    if (count := disturbed(*timings)) and word != "undecided":
        words = f"{count} process" if count == 1 else f"{count} processes"
        reason = f"other programs used the cores of {words} of this stack or the baseline"
        word = in_set = "undecided"
    if word != "undecided" and protocol.until_decided and len(logs) < protocol.first_look:
        word = in_set = "undecided"
        reason = f"{len(logs)} of the {protocol.first_look} blocks that a first verdict takes"
    return Speedup(
        question, pairing.names[question], stack, baseline, ratios[0], word, logs, best, reason, in_set, count
    )


def disturbed(*stacks: Timings) -> int:
    """Returns how many processes were disturbed by other programs until the end."""
    return sum(timing.disturbed for timings in stacks for processes in timings.values() for timing in processes)
