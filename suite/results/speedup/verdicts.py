"""From paired processes to ratios with verdicts. Pure functions; docs/methodology.md has the formulas."""

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
    """A stack over the baseline on one question; over itself where it ran twice in each block (A/A).

    Where the processes of either run in two modes, `best` is the ratio of the best modes alone. `reason` says why a
    verdict that the interval would allow does not stand.
    """

    comparison_id: str
    name: str
    stack: str
    baseline: str
    ratio: Estimate
    verdict: Word
    log_ratios: dict[int, float]  # by block in which both are ok, ln(t_baseline / t_stack)
    controls: int = 1  # processes of the baseline in a block
    best: Estimate | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Pairing:
    """The processes that count, by one clock, with everything that it takes to judge a ratio of them."""

    timings: Mapping[Side, Timings]
    names: Mapping[str, str]  # of the questions, by comparison_id
    stacks: frozenset[str]  # all that ran, with a median or without
    protocol: Protocol

    @classmethod
    def of(cls, rows: Iterable[Row], protocol: Protocol, clock: str = "synced") -> Pairing:
        """Of a set's rows. Raises UserError for an unknown clock, and for rows of two machines."""
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
        """Stacks over the baseline, on every question that both answered or on one: a family for the verdicts."""
        logs = self.logs_over(baseline)
        asked = [side for side in logs if question in (None, side[0]) and (stacks is None or side[1] in stacks)]
        ratios = self.estimates(logs, baseline, asked)
        best = self.best_over(baseline, logs, asked)
        limits = {twin.comparison_id: twin.ratio for twin in self.twins({baseline: logs})}
        found = []
        for side in asked:
            comparison, stack = side
            ratio = cut(ratios[side], self.protocol.confidence)
            word, reason = self.judge(ratio, limits.get(comparison), best.get(side))
            if word != "undecided" and (disturbed := self.disturbed(side) + self.disturbed((comparison, baseline))):
                word, reason = "undecided", f"others had the cores of {disturbed} of its processes"
            found.append(
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
        return found

    def judge(self, ratio: Estimate, floor: Estimate | None, best: Estimate | None) -> tuple[Word, str]:
        """(verdict, why it isn't what the interval alone allows); `best`: of the best modes, where there are two."""
        word = verdict(ratio, self.protocol.tie_ratio, floor)
        if best is None or word == "undecided":
            return word, ""
        of_best = verdict(best, self.protocol.tie_ratio)
        return (word, "") if of_best == word else ("undecided", f"two modes: all processes {word}, the best {of_best}")

    def disturbed(self, side: Side) -> int:
        """How many processes of a stack on a question others disturbed to the end."""
        return sum(each.disturbed for processes in self.timings[side].values() for each in processes)

    def logs_over(self, baseline: str) -> dict[Side, dict[int, float]]:
        """Block log-ratios of all stacks over the baseline, on the questions that both answered in some block."""
        logs = {
            (comparison, stack): log_ratios(timings, self.timings.get((comparison, baseline), {}))
            for (comparison, stack), timings in self.timings.items()
            if stack != baseline
        }
        return {side: found for side, found in logs.items() if found}

    def estimates(self, logs: Mapping[Side, Logs], baseline: str, asked: Collection[Side]) -> dict[Side, Estimate]:
        """The ratios asked for, as one family; one block alone has no interval."""
        means = {side: Estimate(math.exp(fmean(logs[side].values())), blocks=len(logs[side])) for side in asked}
        samples = self.samples(logs, baseline)
        family = [index for index, side in enumerate(samples) if side in means]
        found = simultaneous([*samples.values()], family, self.protocol.confidence)
        sides = [*samples]
        return means | {sides[index]: ratio for index, ratio in zip(family, found, strict=True)}

    def samples(self, logs: Mapping[Side, Logs], baseline: str) -> dict[Side, Sample]:
        """Of the ratios that have a spread."""
        controls = {comparison: self.controls(comparison, baseline) for comparison, _ in logs}
        return {
            (comparison, stack): self.sample(comparison, found, controls[comparison])
            for (comparison, stack), found in logs.items()
            if len(found) > 1
        }

    def sample(self, question: str, logs: Logs, controls: int = 1) -> Sample:
        """Block log-ratios with the freedom that they have."""
        return Sample.of(question, logs.values(), freedom(len(logs), self.protocol), controls)

    def controls(self, comparison: str, baseline: str) -> int:
        """How many processes the baseline has in each block of a question."""
        return min((len(each) for each in self.timings.get((comparison, baseline), {}).values()), default=1)

    def best_over(self, baseline: str, logs: Mapping[Side, Logs], asked: Collection[Side]) -> dict[Side, Estimate]:
        """The ratios of best modes alone, of those asked for in which either side has two modes.

        They are as surprising as those of all processes (`logs`) must be in their family.
        """
        modal = {side for side, timings in self.timings.items() if has_modes(all_seconds(timings))}
        wanted = [side for side in asked if side in modal or (side[0], baseline) in modal]
        samples = self.samples(logs, baseline)
        family = [index for index, side in enumerate(samples) if side in asked]
        if not wanted or not family:
            return {side: self.fastest(side, baseline) for side in wanted}
        level = critical([*samples.values()], family, self.protocol.confidence)
        best = replace(self, timings={side: best_mode(timings) for side, timings in self.timings.items()})
        of_best = best.samples(best.logs_over(baseline), baseline)
        estimates = at_level([*of_best.values()], range(len(of_best)), level)
        found = dict(zip(of_best, estimates, strict=True))
        return {side: found.get(side) or self.fastest(side, baseline) for side in wanted}

    def fastest(self, side: Side, baseline: str) -> Estimate:
        """The fastest process of the baseline over that of a stack, where fewer than two blocks pair best modes."""
        comparison, stack = side
        fastest = {each: min(all_seconds(self.timings[comparison, each])) for each in (baseline, stack)}
        return Estimate(fastest[baseline] / fastest[stack])

    def twins(self, known: Mapping[str, Mapping[Side, Logs]] | None = None) -> list[Speedup]:
        """The A/A pairs: a stack against itself. Their intervals are the noise floor of the set.

        They are no family: each is judged by itself, with the spread of the other twins and of the ratios beside it.
        `known`: block log-ratios over a stack that are at hand already.
        """
        logs = {side: found for side, timings in self.timings.items() if (found := twin_log_ratios(timings))}
        pairs = {side: Estimate(math.exp(fmean(found.values())), blocks=len(found)) for side, found in logs.items()}
        for stack in {stack for _, stack in logs}:
            own = {
                side: self.sample(side[0], found) for side, found in logs.items() if side[1] == stack and len(found) > 1
            }
            beside = self.samples((known or {}).get(stack) or self.logs_over(stack), stack)
            if own:
                limits = floors([*own.values()], [*beside.values()], self.protocol.confidence)
                pairs |= dict(zip(own, limits, strict=True))
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
        """The second stage: how many blocks the ratios over the baseline ask for, in all."""
        logs = self.logs_over(baseline)
        found = self.estimates(logs, baseline, logs.keys())
        return blocks_needed(found.values(), self.protocol.blocks, self.protocol.blocks_max, self.protocol.tie_ratio)


def freedom(blocks: int, protocol: Protocol) -> int:
    """Degrees of freedom of so many blocks: where a second stage may follow, those of the first (Stein 1945)."""
    return (min(blocks, protocol.blocks) if protocol.blocks_max > protocol.blocks else blocks) - 1


def ratios(rows: Iterable[Row], baseline: str, protocol: Protocol, clock: str = "synced") -> list[Speedup]:
    """Every stack against the baseline, on every question that both answered, verdicts included.

    Raises UserError for a clock or a baseline that there isn't.
    """
    pairing = Pairing.of(rows, protocol, clock)
    if baseline not in pairing.stacks:
        raise unknown("baseline stack in this result set", baseline, pairing.stacks)
    return pairing.over(baseline)


def twins(rows: Iterable[Row], protocol: Protocol, clock: str = "synced") -> list[Speedup]:
    """The A/A pairs of a set's rows."""
    return Pairing.of(rows, protocol, clock).twins()
