"""Turns paired processes into ratios with verdicts. Pure functions; docs/methodology.md has the formulas."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from statistics import fmean

from suite.errors import unknown
from suite.protocol import Protocol
from suite.results.speedup.family import Sample, at_level, critical, cut, floors, simultaneous
from suite.results.speedup.pairing import (
    Logs,
    Side,
    Timings,
    all_seconds,
    best_mode,
    block_timings,
    log_ratios,
    twin_log_ratios,
)
from suite.results.store.rows import Row, check_clock, counting
from suite.stats import Estimate, Word, blocks_needed, has_modes, verdict


@dataclass(frozen=True, slots=True)
class Speedup:
    """The speedup of a stack over the baseline on one question; over itself where it ran twice in each block (A/A).

    `best` is the ratio of the best modes alone, where the processes of either stack run in two modes. `reason` says why
    the verdict is undecided although the interval alone would allow one.
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


@dataclass(frozen=True, slots=True)
class Pairing:
    """The processes that count, timed by one clock, and everything needed to judge their ratios."""

    timings: Mapping[Side, Timings]
    names: Mapping[str, str]  # {comparison_id: the question's name}
    stacks: frozenset[str]  # every stack with a row, even one without times
    protocol: Protocol

    @classmethod
    def of(cls, rows: Iterable[Row], protocol: Protocol, clock: str = "synced") -> Pairing:
        """Returns the pairing of a set's rows. Raises UserError for an unknown clock, and for rows of two machines."""
        check_clock(clock)
        kept = counting(rows)
        names = {row["comparison_id"]: row for row in kept}
        return cls(
            block_timings(kept, clock),
            {question: row.comparison_name for question, row in names.items()},
            frozenset(row.stack_name for row in kept),
            protocol,
        )

    def over(self, baseline: str, stacks: Collection[str] | None = None, question: str | None = None) -> list[Speedup]:
        """Returns the speedups over the baseline of all stacks or some, on all questions or one, judged as a family."""
        logs = self.logs_over(baseline)
        family = [side for side in logs if question in (None, side[0]) and (stacks is None or side[1] in stacks)]
        ratios = self.estimates(logs, baseline, family)
        best = self.best_over(baseline, logs, family)
        floors_by_question = {twin.comparison_id: twin.ratio for twin in self.twins({baseline: logs})}
        speedups = []
        for side in family:
            comparison, stack = side
            ratio = cut(ratios[side], self.protocol.confidence)
            word, reason = self.judge(ratio, floors_by_question.get(comparison), best.get(side))
            if word != "undecided" and (disturbed := self.disturbed(side) + self.disturbed((comparison, baseline))):
                word, reason = "undecided", f"other programs used the cores of {disturbed} of its processes"
            speedups.append(
                Speedup(
                    comparison,
                    self.names[comparison],
                    stack,
                    baseline,
                    ratio,
                    word,
                    logs[side],
                    self.controls(comparison, baseline),
                    best.get(side),
                    reason,
                )
            )
        return speedups

    def judge(self, ratio: Estimate, floor: Estimate | None, best: Estimate | None) -> tuple[Word, str]:
        """Returns (verdict, why it isn't that of `ratio`, if so); `best` is of the best modes, None without two."""
        word = verdict(ratio, self.protocol.tie_ratio, floor)
        if best is None or word == "undecided":
            return word, ""
        of_best = verdict(best, self.protocol.tie_ratio)
        return (word, "") if of_best == word else ("undecided", f"two modes: all processes {word}, the best {of_best}")

    def disturbed(self, side: Side) -> int:
        """Returns how many of a stack's processes on a question other programs disturbed until the end."""
        return sum(timing.disturbed for processes in self.timings[side].values() for timing in processes)

    def logs_over(self, baseline: str) -> dict[Side, dict[int, float]]:
        """Returns the block log-ratios of every stack over the baseline, on the questions where some block has both."""
        logs_by_side = {
            (comparison, stack): log_ratios(timings, self.timings.get((comparison, baseline), {}))
            for (comparison, stack), timings in self.timings.items()
            if stack != baseline
        }
        return {side: logs for side, logs in logs_by_side.items() if logs}

    def estimates(self, logs: Mapping[Side, Logs], baseline: str, family: Collection[Side]) -> dict[Side, Estimate]:
        """Estimates the ratios of a family together; a ratio of one block has no interval."""
        means = {side: Estimate(math.exp(fmean(logs[side].values())), blocks=len(logs[side])) for side in family}
        samples = self.samples(logs, baseline)
        sides = [*samples]
        indices = [index for index, side in enumerate(sides) if side in means]
        estimates = simultaneous([*samples.values()], indices, self.protocol.confidence)
        return means | {sides[index]: ratio for index, ratio in zip(indices, estimates, strict=True)}

    def samples(self, logs: Mapping[Side, Logs], baseline: str) -> dict[Side, Sample]:
        """Returns a sample of each ratio of two blocks or more: fewer have no spread."""
        controls = {comparison: self.controls(comparison, baseline) for comparison, _ in logs}
        return {
            (comparison, stack): self.sample(comparison, by_block, controls[comparison])
            for (comparison, stack), by_block in logs.items()
            if len(by_block) > 1
        }

    def sample(self, question: str, logs: Logs, controls: int = 1) -> Sample:
        """Returns the sample of a ratio's block log-ratios, with their degrees of freedom by the protocol."""
        return Sample.of(question, logs.values(), freedom(len(logs), self.protocol), controls)

    def controls(self, comparison: str, baseline: str) -> int:
        """Returns how many processes the baseline has in each block of a question, the least if blocks differ."""
        return min((len(timings) for timings in self.timings.get((comparison, baseline), {}).values()), default=1)

    def best_over(self, baseline: str, logs: Mapping[Side, Logs], family: Collection[Side]) -> dict[Side, Estimate]:
        """Estimates the ratios of the best modes alone, for those of a family in which either stack has two modes.

        The level of their intervals is the critical p of the family by all processes (`logs`).
        """
        modal = {side for side, timings in self.timings.items() if has_modes(all_seconds(timings))}
        wanted = [side for side in family if side in modal or (side[0], baseline) in modal]
        samples = self.samples(logs, baseline)
        indices = [index for index, side in enumerate(samples) if side in family]
        if not wanted or not indices:
            return {side: self.fastest(side, baseline) for side in wanted}
        level = critical([*samples.values()], indices, self.protocol.confidence)
        best = replace(self, timings={side: best_mode(timings) for side, timings in self.timings.items()})
        of_best = best.samples(best.logs_over(baseline), baseline)
        estimates = dict(zip(of_best, at_level([*of_best.values()], range(len(of_best)), level), strict=True))
        return {side: estimates.get(side) or self.fastest(side, baseline) for side in wanted}

    def fastest(self, side: Side, baseline: str) -> Estimate:
        """Returns the ratio of the fastest processes, for best modes that share fewer than two blocks."""
        comparison, stack = side
        fastest = {name: min(all_seconds(self.timings[comparison, name])) for name in (baseline, stack)}
        return Estimate(fastest[baseline] / fastest[stack])

    def twins(self, known: Mapping[str, Mapping[Side, Logs]] | None = None) -> list[Speedup]:
        """Returns the A/A pairs, each a stack over itself. Their intervals are the noise floor of the set.

        Each is judged by itself; the other twins and the ratios over the same stack show which spread is usual.
        `known` has, by stack, block log-ratios over it that were computed before.
        """
        logs = {side: by_block for side, timings in self.timings.items() if (by_block := twin_log_ratios(timings))}
        pairs = {side: Estimate(math.exp(fmean(log.values())), blocks=len(log)) for side, log in logs.items()}
        for stack in {stack for _, stack in logs}:
            samples = {
                side: self.sample(side[0], by_block)
                for side, by_block in logs.items()
                if side[1] == stack and len(by_block) > 1
            }
            beside = self.samples((known or {}).get(stack) or self.logs_over(stack), stack)
            if samples:
                estimates = floors([*samples.values()], [*beside.values()], self.protocol.confidence)
                pairs |= dict(zip(samples, estimates, strict=True))
        return [
            Speedup(
                comparison,
                self.names[comparison],
                stack,
                stack,
                floor,
                verdict(floor, self.protocol.tie_ratio),
                logs[comparison, stack],
            )
            for (comparison, stack), floor in pairs.items()
        ]

    def blocks_needed(self, baseline: str) -> int:
        """Returns how many blocks, both stages together, the ratios over the baseline need."""
        logs = self.logs_over(baseline)
        needing = self.estimates(logs, baseline, logs.keys()).values()
        return blocks_needed(needing, self.protocol.blocks, self.protocol.blocks_max, self.protocol.tie_ratio)


def freedom(blocks: int, protocol: Protocol) -> int:
    """Returns the degrees of freedom of so many blocks: of the first stage if a second may follow (Stein 1945)."""
    return (min(blocks, protocol.blocks) if protocol.blocks_max > protocol.blocks else blocks) - 1


def ratios(rows: Iterable[Row], baseline: str, protocol: Protocol, clock: str = "synced") -> list[Speedup]:
    """Returns the speedup, with its verdict, of every stack over the baseline on every question that both answered.

    Raises UserError for an unknown clock, and for a baseline that no row has.
    """
    pairing = Pairing.of(rows, protocol, clock)
    if baseline not in pairing.stacks:
        raise unknown("baseline stack in this result set", baseline, pairing.stacks)
    return pairing.over(baseline)


def twins(rows: Iterable[Row], protocol: Protocol, clock: str = "synced") -> list[Speedup]:
    """Returns the A/A pairs of a set's rows, as `Pairing.twins` does."""
    return Pairing.of(rows, protocol, clock).twins()
