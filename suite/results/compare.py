"""From rows to paired ratios with verdicts. Pure functions; docs/methodology.md has the formulas."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, median

import numpy as np

from suite.case import Flag, Outcome
from suite.errors import unknown
from suite.protocol import Protocol
from suite.results.family import Sample, at_level, critical, cut, floors, simultaneous
from suite.results.rows import Row, check_clock, counting
from suite.stats import MODES_SPREAD, Estimate, Word, blocks_needed, has_modes, verdict

Place = tuple[str, str]  # comparison_id and stack


@dataclass(frozen=True, slots=True)
class Timing:
    """One process: when it ran in its block, and its median in seconds. `started`: seconds of the clock, if known.
    `disturbed`: others had its cores to the end."""

    replicate: int
    order: float
    started: float | None
    seconds: float
    disturbed: bool = False


Timings = Mapping[int, Sequence[Timing]]  # by block, the processes that a stack has there
Logs = Mapping[int, float]  # by block, ln(t_baseline / t_stack)


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


def block_timings(rows: Iterable[Row], clock: str) -> dict[Place, dict[int, list[Timing]]]:
    """{(comparison_id, stack): {block: its processes}} of the ok rows; disturbed ones only where it has no others."""
    timings: dict[Place, dict[int, list[Timing]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        seconds = row.median(clock)
        if row["outcome"] == Outcome.OK and seconds is not None:
            started = row["started_at"].timestamp() if row["started_at"] else None
            timing = Timing(row["replicate"], row["order"], started, seconds, Flag.DISTURBED in row.flags)
            timings[row["comparison_id"], row.stack_name][row["block"]].append(timing)
    return {
        place: {block: [each for each in processes if not each.disturbed] or processes
                for block, processes in blocks.items()}
        for place, blocks in timings.items()
    }  # fmt: skip


def log_ratios(stack: Timings, baseline: Timings) -> dict[int, float]:
    """{block: ln(t_baseline / t_stack)} of each block that has both."""
    return {block: log_ratio(stack[block], baseline[block]) for block in sorted(stack.keys() & baseline.keys())}


def log_ratio(stack: Sequence[Timing], baseline: Sequence[Timing]) -> float:
    """ln(t_baseline / t_stack) in one block, between what stood nearest to each other in time.

    A machine changes pace for seconds at a time. So each process of the side that ran less often is held against the
    other side at its own time: interpolated between the process before and the one after it, in log time; beyond the
    first and the last against these alone. Times are `started_at`, or the order where one of them lacks it.
    """
    dated = all(timing.started is not None for timing in (*stack, *baseline))
    fewer, more = (stack, baseline) if len(stack) <= len(baseline) else (baseline, stack)
    found: dict[float, list[float]] = {}
    for timing in more:
        found.setdefault(place_in_time(timing, dated), []).append(math.log(timing.seconds))
    times = sorted(found)
    logs = [fmean(found[time]) for time in times]
    gaps = [np.interp(place_in_time(timing, dated), times, logs) - math.log(timing.seconds) for timing in fewer]
    return float(fmean(gaps) if fewer is stack else -fmean(gaps))


def place_in_time(timing: Timing, dated: bool) -> float:
    """Seconds of the clock, or the order in the block."""
    return timing.started if dated and timing.started is not None else timing.order


def twin_log_ratios(stack: Timings) -> dict[int, float]:
    """{block: ln of the first replicate's time over that of the others} of each block in which it ran twice."""
    logs = {}
    for block, processes in sorted(stack.items()):
        first, *others = (math.log(each.seconds) for each in sorted(processes, key=lambda each: each.replicate))
        if others and min(each.replicate for each in processes) == 1:
            logs[block] = first - fmean(others)
    return logs


def all_seconds(timings: Timings) -> list[float]:
    """The medians of all processes of a stack on a question."""
    return [each.seconds for processes in timings.values() for each in processes]


def best_mode(timings: Timings) -> dict[int, list[Timing]]:
    """The processes of the fast mode: nearer than two modes are to the middle of those that are near to the fastest.

    To the middle, because the fastest of many is an extreme: counted from it, the noise of one mode would be cut.
    """
    seconds = all_seconds(timings)
    middle = median(each for each in seconds if each <= MODES_SPREAD * min(seconds))
    limit = MODES_SPREAD * middle
    kept = {block: [each for each in processes if each.seconds <= limit] for block, processes in timings.items()}
    return {block: processes for block, processes in kept.items() if processes}


@dataclass(frozen=True, slots=True)
class Pairing:
    """The processes that count, by one clock, with everything that it takes to judge a ratio of them."""

    timings: Mapping[Place, Timings]
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

    def over(
        self, baseline: str, stacks: Collection[str] | None = None, question: str | None = None
    ) -> list[Speedup]:
        """Stacks over the baseline, on every question that both answered or on one: a family for the verdicts."""
        logs = self.logs_over(baseline)
        asked = [place for place in logs
                 if question in (None, place[0]) and (stacks is None or place[1] in stacks)]  # fmt: skip
        ratios = self.estimates(logs, baseline, asked)
        best = self.best_over(baseline, logs, asked)
        limits = {twin.comparison_id: twin.ratio for twin in self.twins({baseline: logs})}
        found = []
        for place in asked:
            comparison, stack = place
            ratio = cut(ratios[place], self.protocol.confidence)
            word, reason = self.judge(ratio, limits.get(comparison), best.get(place))
            if word != "undecided" and (disturbed := self.disturbed(place) + self.disturbed((comparison, baseline))):
                word, reason = "undecided", f"others had the cores of {disturbed} of its processes"
            found.append(Speedup(comparison, self.names[comparison], stack, baseline, ratio, word, logs[place],
                                 self.controls(comparison, baseline), best.get(place), reason))  # fmt: skip
        return found

    def judge(self, ratio: Estimate, floor: Estimate | None, best: Estimate | None) -> tuple[Word, str]:
        """(verdict, why it isn't what the interval alone allows); `best`: of the best modes, where there are two."""
        word = verdict(ratio, self.protocol.tie_ratio, floor)
        if best is None or word == "undecided":
            return word, ""
        of_best = verdict(best, self.protocol.tie_ratio)
        return (word, "") if of_best == word else ("undecided", f"two modes: all processes {word}, the best {of_best}")

    def disturbed(self, place: Place) -> int:
        """How many processes of a stack on a question others disturbed to the end."""
        return sum(each.disturbed for processes in self.timings[place].values() for each in processes)

    def logs_over(self, baseline: str) -> dict[Place, dict[int, float]]:
        """Block log-ratios of all stacks over the baseline, on the questions that both answered in some block."""
        logs = {
            (comparison, stack): log_ratios(timings, self.timings.get((comparison, baseline), {}))
            for (comparison, stack), timings in self.timings.items()
            if stack != baseline
        }
        return {place: found for place, found in logs.items() if found}

    def estimates(self, logs: Mapping[Place, Logs], baseline: str, asked: Collection[Place]) -> dict[Place, Estimate]:
        """The ratios asked for, as one family; one block alone has no interval."""
        means = {place: Estimate(math.exp(fmean(logs[place].values())), blocks=len(logs[place])) for place in asked}
        samples = self.samples(logs, baseline)
        family = [index for index, place in enumerate(samples) if place in means]
        found = simultaneous([*samples.values()], family, self.protocol.confidence)
        places = [*samples]
        return means | {places[index]: ratio for index, ratio in zip(family, found, strict=True)}

    def samples(self, logs: Mapping[Place, Logs], baseline: str) -> dict[Place, Sample]:
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

    def best_over(
        self, baseline: str, logs: Mapping[Place, Logs], asked: Collection[Place]
    ) -> dict[Place, Estimate]:
        """The ratios of best modes alone, of those asked for in which either side has two modes.

        They are as surprising as those of all processes (`logs`) must be in their family.
        """
        modal = {place for place, timings in self.timings.items() if has_modes(all_seconds(timings))}
        wanted = [place for place in asked if place in modal or (place[0], baseline) in modal]
        samples = self.samples(logs, baseline)
        family = [index for index, place in enumerate(samples) if place in asked]
        if not wanted or not family:
            return {place: self.fastest(place, baseline) for place in wanted}
        level = critical([*samples.values()], family, self.protocol.confidence)
        best = replace(self, timings={place: best_mode(timings) for place, timings in self.timings.items()})
        of_best = best.samples(best.logs_over(baseline), baseline)
        estimates = at_level([*of_best.values()], range(len(of_best)), level)
        found = dict(zip(of_best, estimates, strict=True))
        return {place: found.get(place) or self.fastest(place, baseline) for place in wanted}

    def fastest(self, place: Place, baseline: str) -> Estimate:
        """The fastest process of the baseline over that of a stack, where fewer than two blocks pair best modes."""
        comparison, stack = place
        fastest = {each: min(all_seconds(self.timings[comparison, each])) for each in (baseline, stack)}
        return Estimate(fastest[baseline] / fastest[stack])

    def twins(self, known: Mapping[str, Mapping[Place, Logs]] | None = None) -> list[Speedup]:
        """The A/A pairs: a stack against itself. Their intervals are the noise floor of the set.

        They are no family: each is judged by itself, with the spread of the other twins and of the ratios beside it.
        `known`: block log-ratios over a stack that are at hand already.
        """
        logs = {place: found for place, timings in self.timings.items() if (found := twin_log_ratios(timings))}
        pairs = {place: Estimate(math.exp(fmean(found.values())), blocks=len(found)) for place, found in logs.items()}
        for stack in {stack for _, stack in logs}:
            own = {place: self.sample(place[0], found) for place, found in logs.items()
                   if place[1] == stack and len(found) > 1}  # fmt: skip
            beside = self.samples((known or {}).get(stack) or self.logs_over(stack), stack)
            if own:
                limits = floors([*own.values()], [*beside.values()], self.protocol.confidence)
                pairs |= dict(zip(own, limits, strict=True))
        return [
            Speedup(comparison, self.names[comparison], stack, stack, floor, verdict(floor, self.protocol.tie_ratio),
                    logs[comparison, stack])
            for (comparison, stack), floor in pairs.items()
        ]  # fmt: skip

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
