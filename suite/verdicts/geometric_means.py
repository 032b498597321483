"""Geometric means of a stack's ratios over questions. A failed case enters no mean, and a stack that lacks a question
isn't ranked."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from suite.protocol import Protocol
from suite.stats import Estimate, Mean
from suite.verdicts.family import together
from suite.verdicts.grouping import grouped
from suite.verdicts.moderation import moderate
from suite.verdicts.ratios import mean_of_blocks
from suite.verdicts.verdicts import Speedup


@dataclass(frozen=True, slots=True)
class Summary:
    """The geometric mean of a stack's ratios over the questions that it answered; None without any, and never imputed.

    A mean is over the questions on which the baseline has a time that counts: `n` of them, of which the stack `lacks`
    some (comparison_ids). A stack that lacks one leaves the ranking: without the questions on which
    it is slow it would rank higher. It takes no question from the others.
    """

    stack: str
    ratio: Estimate | None
    n: int
    lacks: tuple[str, ...] = ()
    least: Speedup | None = None
    greatest: Speedup | None = None

    @property
    def n_ok(self) -> int:
        return self.n - len(self.lacks)

    @property
    def is_ranked(self) -> bool:
        return self.ratio is not None and not self.lacks


def summaries(
    speedups: Iterable[Speedup], stacks: Iterable[str], questions: Sequence[str], protocol: Protocol
) -> list[Summary]:
    """Returns a summary for each of the `stacks` over the questions (comparison_ids) on which their baseline has a time
    that counts: first those that are ranked, the greatest mean first, and last those without a ratio."""
    by_stack = grouped((speedup for speedup in speedups if speedup.comparison_id in questions), lambda it: it.stack)
    means = mean_ratios(by_stack, protocol)
    lines = []
    for stack in stacks:
        group = sorted(by_stack.get(stack, []), key=lambda speedup: (speedup.ratio.value, speedup.name))
        answered = {speedup.comparison_id for speedup in group}
        lacks = tuple(question for question in questions if question not in answered)
        lines.append(Summary(stack, means.get(stack), len(questions), lacks, *group[:1], *group[-1:]))
    return sorted(lines, key=rank)


def rank(line: Summary) -> tuple[bool, bool, float, str]:
    return line.ratio is None, not line.is_ranked, -line.ratio.value if line.ratio else 0.0, line.stack


def mean_ratios(speedups: Mapping[str, Sequence[Speedup]], protocol: Protocol) -> dict[str, Estimate]:
    """Returns {stack: geometric mean of its ratios over its questions}, without stacks that have no ratio.

    The interval comes from the blocks that all questions of the stack have, each with its mean over questions; the
    intervals of all stacks are simultaneous. A stack with one question has that question's ratio and interval.
    """
    means = {stack: fmean(math.log(s.ratio.value) for s in group) for stack, group in speedups.items() if group}
    per_block = {stack: block_means(speedups[stack], mean) for stack, mean in means.items()}
    known = {stack: mean_of_blocks(logs, protocol) for stack, logs in per_block.items() if len(logs) > 1}
    if protocol.until_decided:  # questions have different numbers of blocks, and each counts with all of its own
        known = {stack: mean_of_questions(speedups[stack], protocol) for stack in known}
    single = {stack: Estimate(math.exp(mean), blocks=len(per_block[stack])) for stack, mean in means.items()}
    alone = {stack: group[0].ratio for stack, group in speedups.items() if len(group) == 1}
    return single | together(moderate(known), protocol.at_a_look(protocol.confidence)) | alone


def mean_of_questions(speedups: Sequence[Speedup], protocol: Protocol) -> Mean:
    """Returns the mean log-ratio over questions, each with the variance of its own blocks (two or more), and the
    degrees of freedom of such a sum (Satterthwaite, Biometrics Bulletin 2, 1946)."""
    means = [mean_of_blocks(speedup.log_ratios.values(), protocol) for speedup in speedups]
    variances = [mean.error**2 for mean in means]
    parts = sum(variance**2 / mean.freedom for variance, mean in zip(variances, means, strict=True))
    freedom = sum(variances) ** 2 / parts if parts else min(mean.freedom for mean in means)
    error = math.sqrt(sum(variances)) / len(means)
    return Mean(fmean(mean.value for mean in means), error, freedom, min(mean.blocks for mean in means))


def block_means(speedups: Sequence[Speedup], mean: float) -> list[float]:
    """Returns, for each block that all questions have, the mean log-ratio over questions. These means are shifted so
    that their own mean is `mean`, which is over all blocks: only the interval's width comes from the common blocks.
    """
    blocks = sorted(set.intersection(*(set(s.log_ratios) for s in speedups)))
    per_block = [fmean(s.log_ratios[block] for s in speedups) for block in blocks]
    return [value - fmean(per_block) + mean for value in per_block]
