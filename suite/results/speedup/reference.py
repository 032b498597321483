"""Simulates how small p gets if all stacks are equal and their processes differ by chance alone.

The procedure that judges a set also judges simulated sets, with the set's blocks, questions and shared controls. Each
stack, and the control, has its own standard deviation, which is log-normal over stacks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from suite.results.speedup.moderation import Array, Prior, log_variances

UNEQUAL_SPREADS = 0.5  # standard deviation of ln(sd) over the simulated processes: sds of 2 to 10 % have 0.45
DRAWS = 10_000  # simulated sets; with so many, a share of 5 % is known to +-0.2 %
# A set of more than RATIOS ratios has fewer draws, so that memory stops growing, but never fewer than DRAWS_LEAST; of
# 5,000 ratios it has 1,000, with which a share of 5 % is known to +-0.7 %.
RATIOS, DRAWS_LEAST = 500, 200
SEED = 20_250_101

# Four numbers for each ratio: question, blocks, freedom, controls. As bytes, whose hash Python computes only once.
Shape = bytes


class Reference:
    """The p of a set's ratios in `draws` simulated sets of equal stacks."""

    def __init__(self, shape: Shape) -> None:
        numbers = np.frombuffer(shape, np.int64).reshape(-1, 4)
        self.draws = min(DRAWS, max(DRAWS_LEAST, DRAWS * RATIOS // len(numbers)))
        means, variances = self.moments(numbers.tolist())
        _, blocks, freedoms, _ = numbers.T.astype(float)
        logs = log_variances(variances, blocks[:, None])
        prior = Prior.of(logs.mean(axis=0), logs.var(axis=0, ddof=1), blocks[:, None])
        self.of_ratios = means  # is replaced, ratio by ratio: both may be large
        for ratio, variance in enumerate(variances):
            errors = prior.moderate(variance, blocks[ratio], freedoms[ratio])
            self.of_ratios[ratio] = errors.p(means[ratio])

    def moments(self, ratios: Sequence[Sequence[int]]) -> tuple[Array, Array]:
        """Returns mean and variance [ratios, draws] of each ratio's block log-ratios. The ratios of a question share
        its control, the mean of so many processes."""
        random, shared = np.random.default_rng(SEED), dict[int, Array]()
        longest = max(blocks for _, blocks, *_ in ratios)
        means, variances = (np.empty((len(ratios), self.draws)) for _ in range(2))
        for ratio, (question, blocks, _, processes) in enumerate(ratios):
            if question not in shared:
                shared[question] = simulated(random, self.draws, longest) / math.sqrt(processes)
            logs = shared[question][:, :blocks] - simulated(random, self.draws, blocks)
            means[ratio], variances[ratio] = logs.mean(axis=1), logs.var(axis=1, ddof=1)
        return means, variances

    def p(self, ratio: int) -> Array:
        """Returns the p of a ratio in each simulated set."""
        of_ratio: Array = self.of_ratios[ratio]
        return of_ratio


@lru_cache(maxsize=8)
def reference_of(shape: Shape) -> Reference:
    return Reference(shape)


def simulated(random: np.random.Generator, draws: int, blocks: int) -> Array:
    """Returns log-times [draws, blocks] of processes whose standard deviation is drawn for each simulated set."""
    drawn = random.standard_normal(draws * (1 + blocks))
    return drawn[draws:].reshape(draws, blocks) * np.exp(UNEQUAL_SPREADS * drawn[:draws, None])
