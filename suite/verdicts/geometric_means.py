"""Geometric means of a stack's ratios over all questions that it answered, and over those that every stack answered."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from suite.protocol import Protocol
from suite.sets.rows import Row, counting
from suite.stats import Estimate
from suite.verdicts.family import together
from suite.verdicts.moderation import moderate
from suite.verdicts.ratios import mean_of_blocks
from suite.verdicts.verdicts import Speedup


@dataclass(frozen=True, slots=True)
class Summary:
    """The geometric mean of a stack's ratios over the questions that it and the baseline answered; none is imputed.

    `common` is the same mean over the `n_common` questions that every stack answered. Stacks are ranked by it alone:
    by `ratio`, a stack would rank higher for failing where it is slow.
    """

    stack: str
    ratio: Estimate | None  # None where the stack has no ratio
    n_ok: int
    n: int
    least: Speedup | None
    greatest: Speedup | None
    common: Estimate | None = None
    n_common: int = 0


def summaries(
    rows: Iterable[Row], speedups: Sequence[Speedup], protocol: Protocol, questions: Collection[str] | None = None
) -> list[Summary]:
    """Returns a summary for each stack but the baseline, ranked by `common`; `rows` show which questions it has. With
    `questions`, `common` is over these, of the stacks that answered all of them."""
    ids: dict[str, set[str]] = defaultdict(set)
    for row in counting(rows):
        ids[row.stack_name].add(row["comparison_id"])
    by_stack: dict[str, list[Speedup]] = {stack: [] for stack in ids}
    for speedup in speedups:  # of hidden stacks, too, whose rows aren't among `rows`
        by_stack.setdefault(speedup.stack, []).append(speedup)
    by_value = {stack: sorted(group, key=lambda s: (s.ratio.value, s.name)) for stack, group in by_stack.items()}
    answered = {stack: group for stack, group in by_value.items() if group}
    shared = common_questions(speedups) if questions is None else frozenset(questions)
    means = mean_ratios(answered, protocol)
    of_shared = {stack: [s for s in group if s.comparison_id in shared] for stack, group in answered.items()}
    common = mean_ratios({stack: group for stack, group in of_shared.items() if len(group) == len(shared)}, protocol)
    lines = [
        Summary(stack, means[stack], len(group), len(ids[stack]), group[0], group[-1], common.get(stack), len(shared))
        for stack, group in answered.items()
    ]
    baselines = {speedup.baseline for speedup in speedups}
    lines += [
        Summary(stack, None, 0, len(questions), None, None)
        for stack, questions in ids.items()
        if stack not in answered and stack not in baselines
    ]
    return sorted(lines, key=rank)


def rank(line: Summary) -> tuple[bool, float, str]:
    """Returns the sort key of a summary: the greatest `common` first, then by name; those without a ratio come last.
    The mean over the stack's own questions doesn't rank, since it rises when a stack fails where it is slow."""
    return line.ratio is None, -line.common.value if line.common else 0.0, line.stack


def common_questions(speedups: Iterable[Speedup]) -> frozenset[str]:
    """Returns the questions (comparison_id) that every stack with a ratio answered."""
    answered: dict[str, set[str]] = defaultdict(set)
    for speedup in speedups:
        answered[speedup.stack].add(speedup.comparison_id)
    return frozenset(set.intersection(*answered.values())) if answered else frozenset()


def mean_ratios(speedups: Mapping[str, Sequence[Speedup]], protocol: Protocol) -> dict[str, Estimate]:
    """Returns {stack: geometric mean of its ratios over its questions}, without stacks that have no ratio.

    The interval comes from the blocks that all questions of the stack have, each with its mean over questions; the
    intervals of all stacks are simultaneous. A stack with one question has that question's ratio and interval.
    """
    means = {stack: fmean(math.log(s.ratio.value) for s in group) for stack, group in speedups.items() if group}
    per_block = {stack: block_means(speedups[stack], mean) for stack, mean in means.items()}
    known = {stack: mean_of_blocks(logs, protocol) for stack, logs in per_block.items() if len(logs) > 1}
    single = {stack: Estimate(math.exp(mean), blocks=len(per_block[stack])) for stack, mean in means.items()}
    alone = {stack: group[0].ratio for stack, group in speedups.items() if len(group) == 1}
    return single | together(moderate(known), protocol.confidence) | alone


def block_means(speedups: Sequence[Speedup], mean: float) -> list[float]:
    """Returns, for each block that all questions have, the mean log-ratio over questions. These means are shifted so
    that their own mean is `mean`, which is over all blocks: only the interval's width comes from the common blocks.
    """
    blocks = sorted(set.intersection(*(set(s.log_ratios) for s in speedups)))
    per_block = [fmean(s.log_ratios[block] for s in speedups) for block in blocks]
    return [value - fmean(per_block) + mean for value in per_block]
