"""Many ratios judged at once: variances that borrow strength, simultaneous intervals, step-down p-values.

A ratio's data are its block log-ratios. Three blocks say little about their own spread (Student's t: 4.3), but all
ratios of a set together show which spread is usual. So each variance is moderated (Smyth 2004, "Linear models and
empirical Bayes methods for assessing differential expression in microarray experiments"): it is drawn towards the
set's typical variance, with the more degrees of freedom the more the variances agree, at most PRIOR_FREEDOM_MAX.

The distribution of the smallest p among equal stacks is simulated: the same procedure runs on processes that differ
by chance alone, with the blocks, questions and shared controls of this set. This is Dunnett's procedure for unequal
variances, and p is adjusted by stepping down from rank to rank (Westfall, Young 1993; Romano, Wolf 2005).
benchmarks/calibration.py measures the error rates of the procedure on other populations.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from statistics import fmean

import numpy as np
from numpy.typing import NDArray
from scipy import special

from suite.stats import Estimate, spread

Array = NDArray[np.float64]

# Chosen by benchmarks/calibration.py; docs/methodology.md says how.
PRIOR_FREEDOM_MAX = 12.0  # the set's typical variance never counts for more than thirteen blocks of a ratio
UNEQUAL_SPREADS = 0.5  # standard deviation of ln(sd) over the simulated processes: sds of 2 to 10 % have 0.45
DRAWS = 10_000  # simulated sets; 5 % of them is known to +-0.2 %
SEED = 20_250_101
# A few fresh processes that agree to less than 1 % do so by luck. Without this minimum, one ratio whose three blocks
# agreed to 0.25 % made the other 23 variances of its set look unrelated, and doubled every interval.
VARIANCE_MIN = 1e-4
LOG_MAX = 700.0  # exp of more overflows a float, and the interval of two blocks may be that wide
FREEDOMS = np.array([*np.arange(0.5, 8.5, 0.5), 10, 12, 16, 24, 48, 1e3])  # the values tried for the prior
TRIGAMMAS = special.polygamma(1, FREEDOMS / 2)


@dataclass(frozen=True, slots=True)
class Sample:
    """Mean and variance of one ratio's block log-ratios, of two blocks or more.

    `freedom` is that of the first stage where its spread decided the size of a second one (Stein 1945); `controls` is
    the number of baseline processes in a block, which all ratios of a question share.
    """

    question: str
    mean: float
    variance: float
    blocks: int
    freedom: int
    controls: int

    @classmethod
    def of(cls, question: str, logs: Collection[float], freedom: int, controls: int = 1) -> Sample:
        """Returns the sample of these block log-ratios."""
        mean = fmean(logs)
        return cls(question, mean, spread([*logs]) ** 2, len(logs), freedom, controls)


Shape = tuple[tuple[int, int, int, int], ...]  # for each ratio: the question's number, blocks, freedom, controls


@dataclass(frozen=True, slots=True)
class Moderated:
    """Standard errors of mean log-ratios, with the degrees of freedom of their t; arrays [..., ratios]."""

    errors: Array
    freedoms: Array

    def p(self, means: Array) -> Array:
        """Returns the two-sided p of each mean by itself; 0 for a mean other than 0 whose error is 0."""
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.abs(means) / self.errors
        tails: Array = 2 * special.stdtr(self.freedoms, -np.where(means == 0, 0.0, t))
        return tails

    def half(self, p: float) -> Array:
        """Returns half the width, in logs, of the intervals that the true mean lies outside of with probability `p`."""
        widths: Array = special.stdtrit(self.freedoms, 1 - p / 2) * self.errors
        return widths


def moderate(variances: Array, blocks: Array, freedoms: Array) -> Moderated:
    """Draws variances [..., ratios] of `blocks` log-ratios each towards their typical variance.

    The prior's mean and freedom are Smyth's moment estimates (2004, section 6.2), from ln(variance).
    """
    if variances.shape[-1] < 2:  # a single ratio has no others to learn from
        return Moderated(np.sqrt(variances / blocks), np.broadcast_to(freedoms, variances.shape))
    half = (blocks - 1) / 2
    logs = np.log(np.maximum(variances, VARIANCE_MIN)) - special.digamma(half) + np.log(half)
    excess = logs.var(axis=-1, ddof=1) - special.polygamma(1, half).mean()
    index = np.searchsorted(-TRIGAMMAS, -excess, side="right") - 1  # the most freedom that explains the excess
    prior = FREEDOMS[np.maximum(index, 0)]
    common = np.exp(logs.mean(axis=-1) + special.digamma(prior / 2) - np.log(prior / 2))[..., None]
    weight = np.where(index < 0, 0.0, np.minimum(prior, PRIOR_FREEDOM_MAX))[..., None]
    mixed = (weight * common + freedoms * variances) / (weight + freedoms)
    return Moderated(np.sqrt(mixed / blocks), weight + freedoms)


def simultaneous(pool: Sequence[Sample], family: Sequence[int], confidence: float) -> list[Estimate]:
    """Estimates the ratios pool[i] for i in `family`, judged together; all of `pool` shows which spread is usual.

    All intervals hold at once with probability `confidence`; p is adjusted by stepping down. So p may be small enough
    for a verdict where the interval still contains 1: `cut` then ends the interval at 1.
    """
    if len(pool) < 2 or not family:  # a single ratio needs no simulation: Student's t is exact
        return at_level(pool, family, 1 - confidence)
    means, errors = moderated(pool)
    chosen = np.asarray(family)
    p = errors.p(means)[chosen]
    order = np.argsort(p, kind="stable")
    equal = reference(shape_of(pool))[chosen[order]]
    smallest = np.minimum.accumulate(equal[::-1])[::-1]  # the smallest p from each rank on, in each simulated set
    adjusted = np.empty(len(p))
    adjusted[order] = np.maximum.accumulate((1 + (smallest <= p[order, None]).sum(axis=1)) / (1 + DRAWS))
    single_step = at_level(pool, family, float(np.quantile(smallest[0], 1 - confidence)))
    return [replace(ratio, p=float(p)) for ratio, p in zip(single_step, adjusted, strict=True)]


def critical(pool: Sequence[Sample], family: Sequence[int], confidence: float) -> float:
    """Returns the p that the smallest of a family of equal stacks falls below with probability 1 - confidence."""
    if len(pool) < 2:
        return 1 - confidence
    return float(np.quantile(reference(shape_of(pool))[np.asarray(family)].min(axis=0), 1 - confidence))


def at_level(pool: Sequence[Sample], family: Sequence[int], p: float) -> list[Estimate]:
    """Estimates pool[i] for i in `family`, each with an interval that misses the true ratio with probability `p`."""
    if not family:
        return []
    means, errors = moderated(pool)
    halves, p_alone = errors.half(p), errors.p(means)
    return [estimate(means[i], halves[i], float(p_alone[i]), pool[i].blocks) for i in family]


def floors(twins: Sequence[Sample], beside: Sequence[Sample], confidence: float) -> list[Estimate]:
    """Estimates A/A pairs, each by itself; `beside` are other ratios that help to show which spread is usual.

    A floor must not be too narrow: it is as wide as its own blocks make it, or wider where the others vary more.
    """
    means, errors = moderated([*twins, *beside])
    unmoderated = np.array([math.sqrt(sample.variance / sample.blocks) for sample in [*twins, *beside]])
    wider = Moderated(np.maximum(errors.errors, unmoderated), errors.freedoms)
    halves, p = wider.half(1 - confidence), wider.p(means)
    return [estimate(means[i], halves[i], float(p[i]), sample.blocks) for i, sample in enumerate(twins)]


def cut(ratio: Estimate, confidence: float) -> Estimate:
    """Returns the ratio with its interval ended at 1 where the step-down p excludes 1 and the interval doesn't."""
    if ratio.low is None or ratio.high is None or ratio.p is None or ratio.p > 1 - confidence:
        return ratio
    low, high = (max(ratio.low, 1.0), ratio.high) if ratio.value > 1 else (ratio.low, min(ratio.high, 1.0))
    return replace(ratio, low=low, high=high)


def estimate(mean: float, half: float, p: float, blocks: int) -> Estimate:
    """Returns the ratio whose log has this mean and half width."""
    low, high = (float(np.exp(np.clip(mean + side * half, -LOG_MAX, LOG_MAX))) for side in (-1, 1))
    return Estimate(math.exp(mean), low, high, p, blocks)


def moderated(pool: Sequence[Sample]) -> tuple[Array, Moderated]:
    """Returns (mean log-ratios, their moderated errors) of samples."""
    means = np.array([sample.mean for sample in pool])
    variances = np.array([sample.variance for sample in pool])
    return means, moderate(variances, *columns(shape_of(pool)))


def shape_of(pool: Sequence[Sample]) -> Shape:
    """Returns all that the reference distribution of these samples depends on."""
    numbers: dict[str, int] = {}
    return tuple(
        (numbers.setdefault(sample.question, len(numbers)), sample.blocks, sample.freedom, sample.controls)
        for sample in pool
    )


def columns(shape: Shape) -> tuple[Array, Array]:
    """Returns (blocks, freedoms) of a shape's ratios."""
    _, blocks, freedoms, _ = np.array(shape, dtype=float).T
    return blocks, freedoms


@lru_cache(maxsize=16)
def reference(shape: Shape) -> Array:
    """Returns p of every ratio [ratios, DRAWS] where all stacks are equal, by simulating their processes.

    Each stack, and the control, has its own standard deviation, log-normal over stacks.
    """
    random = np.random.default_rng(SEED)
    controls: dict[int, Array] = {}
    means, variances = np.empty((2, DRAWS, len(shape)))
    longest = max(blocks for _, blocks, _, _ in shape)
    for column, (question, blocks, _, processes) in enumerate(shape):
        if question not in controls:
            controls[question] = simulated(random, longest) / math.sqrt(processes)
        logs = controls[question][:, :blocks] - simulated(random, blocks)
        means[:, column], variances[:, column] = logs.mean(axis=1), logs.var(axis=1, ddof=1)
    return np.ascontiguousarray(moderate(variances, *columns(shape)).p(means).T)


def simulated(random: np.random.Generator, blocks: int) -> Array:
    """Returns log-times [DRAWS, blocks] of processes whose standard deviation is drawn for each simulated set."""
    spreads = np.exp(random.normal(0, UNEQUAL_SPREADS, (DRAWS, 1)))
    logs: Array = spreads * random.standard_normal((DRAWS, blocks))
    return logs
