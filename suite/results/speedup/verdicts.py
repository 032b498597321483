"""Turns paired processes into ratios with verdicts. Pure functions; docs/why/method.md has the formulas."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from statistics import fmean

from suite.errors import UserError, unknown
from suite.protocol import Protocol
from suite.results.speedup.family import Sample, at_level, critical, cut, floors, simultaneous
from suite.results.speedup.pairing import (
    Logs,
    Side,
    Timings,
    all_apart,
    all_seconds,
    best_mode,
    block_timings,
    same_way,
    twin_log_ratios,
)
from suite.results.speedup.ratios import Ratios, controls, freedom
from suite.sets.rows import Row, check_clock, counting
from suite.stats import Estimate, Word, blocks_needed, has_modes, holm, is_doubtful, verdict

ALONE = "sure by its question alone, not among all of the set"


@dataclass(frozen=True, slots=True)
class Speedup:
    """The speedup of a stack over the baseline on one question; of an A/A twin, over replicate 1 of the same stack.

    `ratio` and `verdict` are judged with the other ratios of the question as one family; `in_set` is the verdict with
    all ratios of the set as one family. `best` is the ratio of the best modes alone, if the processes of either stack
    run in two modes. `reason` says why the verdict is undecided although the interval alone would allow one.
    """

    comparison_id: str
    name: str
    stack: str
    baseline: str
    ratio: Estimate
    verdict: Word
    log_ratios: dict[int, float]  # {block: ln(t_baseline / t_stack)} of the blocks in which both are ok
    controls: int = 1  # the number of baseline processes in a block
    best: Estimate | None = None
    reason: str = ""
    in_set: Word = "undecided"

    @property
    def why(self) -> str:
        """Returns in plain words why the ratio is undecided; empty if it isn't."""
        return why_undecided(self.verdict, self.ratio, self.reason)

    @property
    def note(self) -> str:
        """Returns the note to show beside the verdict: the `reason`, or that the verdict holds in the family of its
        question but not in that of the set."""
        alone = self.verdict in ("faster", "slower") and self.in_set != self.verdict
        return self.reason or (ALONE if alone else "")


def why_undecided(word: Word | None, ratio: Estimate | None, reason: str) -> str:
    """Returns in plain words why a ratio is undecided: the `reason`, if there is one. Empty if it isn't undecided."""
    if word != "undecided" or ratio is None:
        return ""
    return reason or ("" if ratio.low is None else "the interval contains 1×")  # a set of one block says so once


def judge(ratio: Estimate, tie: float, noise: Mapping[str, Estimate], best: Estimate | None = None) -> tuple[Word, str]:
    """Returns (verdict, the reason if it is undecided although the interval of `ratio` allows a verdict).

    `noise` is {reason: the interval of a ratio between equal processes}: a ratio that is no farther from 1 than the
    farther end of this interval, in either direction, is neither `faster` nor `slower`. `best` is the ratio of the best
    modes; None if neither stack has two modes, or if all their modes agree.
    """
    word = verdict(ratio, tie)
    if word in ("faster", "slower"):
        for reason, floor in noise.items():
            if floor.low is None or floor.high is None:
                continue
            most = max(floor.high, 1 / floor.low)  # which of two equal processes is the first is arbitrary
            if 1 / most <= ratio.value <= most:
                return "undecided", reason
    if best is not None and word not in ("undecided", of_best := verdict(best, tie)):
        if best.blocks < 2:
            return "undecided", "two modes, and the fast processes of the two stacks share fewer than two blocks"
        return "undecided", f"two modes: {word} by all processes, {of_best} by the fast ones alone"
    return word, ""


@dataclass(slots=True)
class Known:
    """Results of a pairing that are computed once and used again, since a page judges every question by itself."""

    ratios: dict[str, Ratios] = field(default_factory=dict)  # by baseline
    twins: dict[float, tuple[Speedup, ...]] = field(default_factory=dict)  # by confidence
    best: Pairing | None = None
    modal: frozenset[Side] | None = None


@dataclass(frozen=True, slots=True)
class Pairing:
    """The processes that count, timed by one clock, and everything needed to judge their ratios."""

    timings: Mapping[Side, Timings]
    names: Mapping[str, str]  # {comparison_id: the question's name}
    stacks: frozenset[str]  # every stack with a row, even one without times
    protocol: Protocol
    clock: str = "synced"
    one_family: bool = False  # whether all questions together are one family, in place of each by itself
    known: Known = field(init=False, default_factory=Known, compare=False, repr=False)

    @classmethod
    def of(cls, rows: Iterable[Row], protocol: Protocol, clock: str = "synced") -> Pairing:
        """Returns the pairing of a set's rows. Raises UserError for an unknown clock, and for rows of two machines."""
        check_clock(clock)
        counted = counting(rows)
        names = {row["comparison_id"]: row for row in counted}
        return cls(
            block_timings(counted, clock),
            {question: row.comparison_name for question, row in names.items()},
            frozenset(row.stack_name for row in counted),
            protocol,
            clock,
        )

    def over(
        self,
        baseline: str,
        stacks: Collection[str] | None = None,
        question: str | None = None,
        confidence: float | None = None,
    ) -> list[Speedup]:
        """Returns the speedups over the baseline: of all stacks or some, on all questions or one, with the protocol's
        confidence or another.

        The ratios of a question are one family: other questions of the set don't change its verdicts. `in_set` is
        judged with all returned speedups as one family.
        """
        level = confidence or self.protocol.confidence
        ratios = self.ratios(baseline)
        sides_of_question = ratios.logs if question is None else ratios.by_question.get(question, ())
        sides = [side for side in sides_of_question if stacks is None or side[1] in stacks]
        by_question = self.estimates(ratios, sides, level, one_family=self.one_family)
        is_one_family = self.one_family or question is not None
        in_set = by_question if is_one_family else self.estimates(ratios, sides, level, one_family=True)
        best = self.best_over(baseline, sides, level)
        floors_by_question = {twin.comparison_id: twin.ratio for twin in self.twins(level)}
        return [
            self.judged(
                side,
                baseline,
                cut(by_question[side], level),
                cut(in_set[side], level),
                best.get(side),
                floors_by_question.get(side[0]),
            )
            for side in sides
        ]

    def judged(
        self,
        side: Side,
        baseline: str,
        ratio: Estimate,
        of_set: Estimate,
        best: Estimate | None,
        floor: Estimate | None,
    ) -> Speedup:
        """Returns a speedup with two verdicts: on `ratio`, estimated among its question's ratios, and on `of_set`, the
        same ratio estimated among all of the set."""
        comparison, stack = side
        noise, tie = {"equal processes differ as much": floor} if floor else {}, self.protocol.tie_ratio
        second_opinion = None if best is None or self.modes_agree(side, baseline) else best
        word, reason = judge(ratio, tie, noise, second_opinion)
        word_of_set, _ = judge(of_set, tie, noise, second_opinion)
        if word != "undecided" and (disturbed := self.disturbed(side) + self.disturbed((comparison, baseline))):
            words = f"{disturbed} process" if disturbed == 1 else f"{disturbed} processes"
            word, reason = "undecided", f"other programs used the cores of {words} of this stack or the baseline"
            word_of_set = word
        return Speedup(
            comparison,
            self.names[comparison],
            stack,
            baseline,
            ratio,
            word,
            self.ratios(baseline).logs[side],
            controls(self.timings, comparison, baseline),
            best,
            reason,
            word_of_set,
        )

    def disturbed(self, side: Side) -> int:
        """Returns how many processes of a stack on a question were disturbed by other programs until the end."""
        return sum(timing.disturbed for processes in self.timings[side].values() for timing in processes)

    def ratios(self, baseline: str) -> Ratios:
        """Returns the ratios of every stack over the baseline."""
        if baseline not in self.known.ratios:
            self.known.ratios[baseline] = Ratios.of(self.timings, baseline, self.protocol)
        return self.known.ratios[baseline]

    def estimates(
        self, ratios: Ratios, sides: Collection[Side], confidence: float, *, one_family: bool
    ) -> dict[Side, Estimate]:
        """Estimates the ratios of each question together, or all as `one_family`; a ratio of one block has no
        interval."""
        estimates = {
            side: Estimate(math.exp(fmean(logs.values())), blocks=len(logs))
            for side, logs in ((side, ratios.logs[side]) for side in sides)
        }
        for members, places in ratios.families(sides, one_family=one_family):
            together = simultaneous(ratios.pool, places, confidence)
            estimates |= dict(zip(members, together, strict=True))
        return estimates

    @property
    def modal(self) -> frozenset[Side]:
        """Returns the sides whose processes run in two modes."""
        if self.known.modal is None:
            modal = (side for side, timings in self.timings.items() if has_modes(all_seconds(timings)))
            self.known.modal = frozenset(modal)
        return self.known.modal

    @property
    def best(self) -> Pairing:
        """Returns the pairing of the processes in their best modes alone."""
        if self.known.best is None:
            best = {side: best_mode(timings) for side, timings in self.timings.items()}
            self.known.best = replace(self, timings=best)
        return self.known.best

    def best_over(self, baseline: str, sides: Collection[Side], confidence: float) -> dict[Side, Estimate]:
        """Estimates the ratios of the best modes alone, for the sides on which the stack or the baseline has two modes.

        Each interval misses the true ratio with a certain probability: the critical p of the same family with all its
        processes.
        """
        wanted = [side for side in sides if side in self.modal or (side[0], baseline) in self.modal]
        if not wanted:
            return {}
        questions = {side[0] for side in wanted}
        in_families = sides if self.one_family else [side for side in sides if side[0] in questions]
        ratios, of_best = self.ratios(baseline), self.best.ratios(baseline)
        estimates: dict[Side, Estimate] = {}
        for members, places in ratios.families(in_families, one_family=self.one_family):
            level = critical(ratios.pool, places, confidence)
            known = [side for side in members if side in of_best.places]
            of_known = at_level(of_best.pool, [of_best.places[side] for side in known], level)
            estimates |= dict(zip(known, of_known, strict=True))
        return {side: estimates.get(side) or self.fastest(side, baseline) for side in wanted}

    def fastest(self, side: Side, baseline: str) -> Estimate:
        """Returns the ratio of the fastest processes, without an interval: for best modes that share fewer than two
        blocks."""
        ours, theirs = (all_seconds(timings) for timings in self.comparable(side, baseline))
        return Estimate(min(theirs) / min(ours))

    def modes_agree(self, side: Side, baseline: str) -> bool:
        """Returns whether every process of one stack is slower than every process of the other, whatever their modes:
        by more than equal processes of one mode may differ."""
        return all_apart(*self.comparable(side, baseline))

    def comparable(self, side: Side, baseline: str) -> tuple[Timings, Timings]:
        """Returns the processes of a stack and of the baseline that were sampled the same way."""
        return same_way(self.timings[side], self.timings[side[0], baseline])

    def twins(self, confidence: float | None = None) -> tuple[Speedup, ...]:
        """Returns the ratios of the A/A twins, each over replicate 1 of the same stack. Their intervals are the noise
        floors of the set's questions.

        Each interval holds by itself; the stack's ratios on other questions, and the ratios over it, show which spread
        is usual. p is adjusted for all twins, and a twin is `faster` or `slower` only if its p is small enough: on a
        quiet machine, a set has such a twin with a probability of at most 1 - confidence.
        """
        level = confidence or self.protocol.confidence
        if level not in self.known.twins:
            self.known.twins[level] = self.judged_twins(level)
        return self.known.twins[level]

    def judged_twins(self, confidence: float) -> tuple[Speedup, ...]:
        """Returns the ratios of the A/A twins at this confidence, computed anew."""
        logs = {side: by_block for side, timings in self.timings.items() if (by_block := twin_log_ratios(timings))}
        pairs = {side: Estimate(math.exp(fmean(log.values())), blocks=len(log)) for side, log in logs.items()}
        for stack in {stack for _, stack in logs}:
            samples = {
                side: Sample.of(side[0], by_block.values(), freedom(len(by_block), self.protocol))
                for side, by_block in logs.items()
                if side[1] == stack and len(by_block) > 1
            }
            if samples:
                estimates = floors([*samples.values()], self.ratios(stack).pool.samples, confidence)
                pairs |= dict(zip(samples, estimates, strict=True))
        known = [side for side, floor in pairs.items() if floor.p is not None]
        for side, p in zip(known, holm([pairs[side].p or 0.0 for side in known]), strict=True):
            pairs[side] = replace(pairs[side], p=p)
        return tuple(self.twin(side, floor, logs[side], confidence) for side, floor in pairs.items())

    def twin(self, side: Side, floor: Estimate, logs: Logs, confidence: float) -> Speedup:
        """Returns the ratio of an A/A twin, `floor`, with its verdict."""
        comparison, stack = side
        word = verdict(floor, self.protocol.tie_ratio)
        if word in ("faster", "slower") and not is_doubtful(floor, confidence):
            word = "undecided"
        return Speedup(comparison, self.names[comparison], stack, stack, floor, word, dict(logs), in_set=word)

    def blocks_needed(self, baseline: str) -> int:
        """Returns how many blocks, both stages together, the ratios over the baseline need."""
        ratios = self.ratios(baseline)
        confidence = self.protocol.confidence
        estimates = self.estimates(ratios, ratios.logs, confidence, one_family=self.one_family).values()
        return blocks_needed(estimates, self.protocol.blocks, self.protocol.blocks_max, self.protocol.tie_ratio)


def ratios(rows: Iterable[Row], baseline: str, protocol: Protocol, clock: str = "synced") -> list[Speedup]:
    """Returns the speedup, with its verdict, of every stack over the baseline on every question that both answered.

    Raises UserError for an unknown clock, and for a baseline that no row has.
    """
    pairing = Pairing.of(rows, protocol, clock)
    if not pairing.stacks:
        raise UserError("No process of this set counts yet, so it has no ratios: no block is whole, or none ended ok.")
    if baseline not in pairing.stacks:
        raise unknown("stack", baseline, pairing.stacks, of="The result set")
    return pairing.over(baseline)


def twins(rows: Iterable[Row], protocol: Protocol, clock: str = "synced") -> tuple[Speedup, ...]:
    """Returns the ratios of the A/A twins in a set's rows, as `Pairing.twins` does."""
    return Pairing.of(rows, protocol, clock).twins()
