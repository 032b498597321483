"""From rows to paired ratios with verdicts. Pure functions; docs/methodology.md has the formulas."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from suite.case import Outcome
from suite.errors import unknown
from suite.protocol import Protocol
from suite.results.rows import Row, check_clock, counting
from suite.stats import Estimate, Word, holm, ratio_of, verdict

Seconds = Mapping[int, float]  # by block, the median of the one process that a stack has there


@dataclass(frozen=True, slots=True)
class Speedup:
    """A stack over the baseline on one question; over itself where it ran twice in each block (A/A)."""

    comparison_id: str
    name: str
    stack: str
    baseline: str
    ratio: Estimate
    verdict: Word
    log_ratios: dict[int, float]  # by block in which both are ok, ln(t_baseline / t_stack)


@dataclass(frozen=True, slots=True)
class Summary:
    """The geometric mean over the questions that both stacks answered; never imputed for the others."""

    stack: str
    ratio: Estimate | None  # None: nothing to compare
    n_ok: int
    n: int
    least: Speedup | None
    greatest: Speedup | None


def block_medians(rows: Iterable[Row], clock: str) -> dict[tuple[str, str, int], dict[int, float]]:
    """{(comparison_id, stack, replicate): {block: median seconds}} of the ok rows."""
    medians: dict[tuple[str, str, int], dict[int, float]] = defaultdict(dict)
    for row in rows:
        seconds = row.median(clock)
        if row["outcome"] == Outcome.OK and seconds is not None:
            medians[row["comparison_id"], row.stack_name, row["replicate"]][row["block"]] = seconds
    return medians


def log_ratios(stack: Seconds, baseline: Seconds) -> dict[int, float]:
    """{block: ln(t_baseline / t_stack)} of each block that has both."""
    return {block: math.log(baseline[block] / stack[block]) for block in sorted(stack.keys() & baseline.keys())}


@dataclass(frozen=True, slots=True)
class Pairing:
    """The block medians that count, by one clock, with everything that it takes to judge a ratio of them."""

    medians: Mapping[tuple[str, str, int], Seconds]
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
            block_medians(kept, clock),
            {question: row.comparison_name for question, row in names.items()},
            frozenset(row.stack_name for row in kept),
            protocol,
        )

    def estimate(self, logs: Collection[float]) -> Estimate:
        """The mean of block log-ratios, with the first stage's degrees of freedom."""
        return ratio_of([*logs], min(self.protocol.blocks, len(logs)) - 1, self.protocol.confidence)

    def over(
        self, baseline: str, stacks: Collection[str] | None = None, question: str | None = None
    ) -> list[Speedup]:
        """Stacks over the baseline, on every question that both answered or on one: a family for the verdicts."""
        pairs = []
        for (comparison, stack, replicate), seconds in self.medians.items():
            asked = question in (None, comparison) and (stacks is None or stack in stacks)
            logs = log_ratios(seconds, self.medians.get((comparison, baseline, 1), {}))
            if asked and replicate == 1 and stack != baseline and logs:
                pairs.append((comparison, stack, logs, self.estimate(logs.values())))
        adjusted = holm([1.0 if ratio.p is None else ratio.p for *_, ratio in pairs])
        floors = {twin.comparison_id: twin.ratio for twin in self.twins()}
        tie, confidence = self.protocol.tie_ratio, self.protocol.confidence
        return [
            Speedup(comparison, self.names[comparison], stack, baseline, ratio,
                    verdict(ratio, tie, confidence, p, floors.get(comparison)), logs)
            for (comparison, stack, logs, ratio), p in zip(pairs, adjusted, strict=True)
        ]  # fmt: skip

    def twins(self) -> list[Speedup]:
        """The A/A pairs: a stack against itself. Their intervals are the noise floor of the set."""
        pairs = []
        for (comparison, stack, replicate), seconds in self.medians.items():
            logs = log_ratios(seconds, self.medians.get((comparison, stack, 1), {}))
            if replicate == 2 and logs:
                ratio = self.estimate(logs.values())
                word = verdict(ratio, self.protocol.tie_ratio, self.protocol.confidence)
                pairs.append(Speedup(comparison, self.names[comparison], stack, stack, ratio, word, logs))
        return pairs


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


def summaries(rows: Iterable[Row], speedups: Sequence[Speedup], protocol: Protocol) -> list[Summary]:
    """Per stack the geometric mean of its ratios, its interval from the per-block means over questions.

    `rows` say which questions were asked of it. The baseline has no line.
    """
    asked: dict[str, set[str]] = defaultdict(set)
    for row in counting(rows):
        asked[row.stack_name].add(row["comparison_id"])
    lines = []
    for stack, questions in asked.items():
        of_stack = sorted((s for s in speedups if s.stack == stack), key=lambda s: (s.ratio.value, s.name))
        if of_stack:
            mean = mean_ratio(of_stack, protocol)
            lines.append(Summary(stack, mean, len(of_stack), len(questions), of_stack[0], of_stack[-1]))
        elif not any(s.baseline == stack for s in speedups):
            lines.append(Summary(stack, None, 0, len(questions), None, None))
    return sorted(lines, key=lambda line: -(line.ratio.value if line.ratio else 0.0))


def mean_ratio(speedups: Sequence[Speedup], protocol: Protocol) -> Estimate:
    """The geometric mean over questions; its interval from the means of the blocks that all of them have."""
    mean = fmean(math.log(s.ratio.value) for s in speedups)
    blocks = set.intersection(*(set(s.log_ratios) for s in speedups))
    if not blocks:
        return Estimate(math.exp(mean))
    per_block = [fmean(s.log_ratios[block] for s in speedups) for block in sorted(blocks)]
    # Blocks that one question lacks move its mean: the interval takes only its width from the common ones.
    centred = [value - fmean(per_block) + mean for value in per_block]
    return ratio_of(centred, min(protocol.blocks, len(blocks)) - 1, protocol.confidence)
