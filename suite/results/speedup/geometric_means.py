"""Geometric means of a stack's ratios over questions: over its own, and over those that every stack answered."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from suite.protocol import Protocol
from suite.results.speedup.family import Sample, simultaneous
from suite.results.speedup.verdicts import Speedup, freedom
from suite.results.store.rows import Row, counting
from suite.stats import Estimate


@dataclass(frozen=True, slots=True)
class Summary:
    """The geometric mean over the questions that both stacks answered; never imputed for the others.

    `common` is the same over the `n_common` questions that every stack answered: only these can be ranked by, or
    failing where it is slow would raise a stack's rank.
    """

    stack: str
    ratio: Estimate | None  # None: nothing to compare
    n_ok: int
    n: int
    least: Speedup | None
    greatest: Speedup | None
    common: Estimate | None = None
    n_common: int = 0


def summaries(rows: Iterable[Row], speedups: Sequence[Speedup], protocol: Protocol) -> list[Summary]:
    """A line for each stack but the baseline, ranked over the common questions; `rows` say what was asked of it."""
    asked: dict[str, set[str]] = defaultdict(set)
    for row in counting(rows):
        asked[row.stack_name].add(row["comparison_id"])
    by_stack: dict[str, list[Speedup]] = {stack: [] for stack in asked}
    for speedup in speedups:
        by_stack[speedup.stack].append(speedup)
    by_value = {stack: sorted(found, key=lambda s: (s.ratio.value, s.name)) for stack, found in by_stack.items()}
    answered = {stack: found for stack, found in by_value.items() if found}
    shared = common_questions(speedups)
    own = mean_ratios(answered, protocol)
    common = mean_ratios(
        {stack: [s for s in found if s.comparison_id in shared] for stack, found in answered.items()}, protocol
    )
    lines = [
        Summary(stack, own[stack], len(found), len(asked[stack]), found[0], found[-1], common.get(stack), len(shared))
        for stack, found in answered.items()
    ]
    baselines = {speedup.baseline for speedup in speedups}
    lines += [
        Summary(stack, None, 0, len(questions), None, None)
        for stack, questions in asked.items()
        if stack not in answered and stack not in baselines
    ]
    return sorted(lines, key=rank)


def rank(line: Summary) -> tuple[bool, float, str]:
    """Greatest first over the common questions; without any, nothing ranks and names decide; without a ratio last."""
    return line.ratio is None, -line.common.value if line.common else 0.0, line.stack


def common_questions(speedups: Iterable[Speedup]) -> frozenset[str]:
    """The questions (comparison_id) that every stack with a ratio answered."""
    answered: dict[str, set[str]] = defaultdict(set)
    for speedup in speedups:
        answered[speedup.stack].add(speedup.comparison_id)
    return frozenset(set.intersection(*answered.values())) if answered else frozenset()


def mean_ratios(speedups: Mapping[str, Sequence[Speedup]], protocol: Protocol) -> dict[str, Estimate]:
    """The geometric mean over the questions of each stack that has any.

    Intervals are of the means of the blocks that all its questions have, simultaneous over the stacks.
    """
    means = {stack: fmean(math.log(s.ratio.value) for s in found) for stack, found in speedups.items() if found}
    per_block = {stack: block_means(speedups[stack], mean) for stack, mean in means.items()}
    pool = [stack for stack, logs in per_block.items() if len(logs) > 1]
    samples = [
        Sample.of(
            "", per_block[stack], freedom(len(per_block[stack]), protocol), min(s.controls for s in speedups[stack])
        )
        for stack in pool
    ]
    found = simultaneous(samples, range(len(pool)), protocol.confidence)
    single = {stack: Estimate(math.exp(mean), blocks=len(per_block[stack])) for stack, mean in means.items()}
    return single | dict(zip(pool, found, strict=True))


def block_means(speedups: Sequence[Speedup], mean: float) -> list[float]:
    """The mean log-ratio over questions in each block that all of them have, moved to `mean`.

    Blocks that one question lacks move its mean: the interval takes only its width from the common ones.
    """
    blocks = sorted(set.intersection(*(set(s.log_ratios) for s in speedups)))
    per_block = [fmean(s.log_ratios[block] for s in speedups) for block in blocks]
    return [value - fmean(per_block) + mean for value in per_block]
