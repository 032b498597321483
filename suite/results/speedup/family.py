"""Judges many ratios at once: simultaneous intervals and step-down p-values, by the variances of all ratios.

Each ratio's variance borrows strength from the others (`moderation`). The smallest p of a family is compared with the
smallest p of simulated equal stacks (`reference`). This is Dunnett's procedure for unequal variances, and p is adjusted
by stepping down from rank to rank (Westfall, Young 1993; Romano, Wolf 2005). benchmarks/calibration.py measures the
error rates of the procedure on other populations.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

import numpy as np

from suite.results.speedup.moderation import Array, Moderated, moderate
from suite.results.speedup.reference import Reference, Shape, reference_of
from suite.stats import Estimate, spread

LOG_MAX = 700.0  # exp of more overflows a float, and the interval of two blocks may be that wide


@dataclass(frozen=True, slots=True)
class Sample:
    """Mean and variance of one ratio's block log-ratios, of two blocks or more.

    `freedom` has the degrees of freedom: those of the first stage if its spread may decide the size of a second one
    (Stein 1945). `controls` is the number of baseline processes in a block, which all ratios of a question share.
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


@dataclass(frozen=True, slots=True)
class Pool:
    """Samples that show together which spread is usual. `means`, `errors` and `p` have for each sample its mean
    log-ratio, the moderated error of this mean, and the p of the sample by itself. `shape` decides the reference
    distribution."""

    samples: tuple[Sample, ...]
    means: Array
    errors: Moderated
    p: Array
    shape: Shape

    @classmethod
    def of(cls, samples: Collection[Sample]) -> Pool:
        """Returns the pool of these samples."""
        means, errors = moderated(samples)
        return cls(tuple(samples), means, errors, errors.p(means), shape_of(samples))


def simultaneous(pool: Pool, family: Sequence[int], confidence: float) -> list[Estimate]:
    """Estimates the ratios of pool.samples[i] for i in `family`, judged together; the pool shows which spread is usual.

    The intervals are simultaneous: with probability `confidence`, all of them contain the true ratio. p is adjusted by
    stepping down, so it may be small enough for a verdict where the interval still contains 1: `cut` then ends the
    interval at 1.
    """
    if len(pool.samples) < 2 or not family:  # a single ratio needs no simulation: Student's t is exact
        return at_level(pool, family, 1 - confidence)
    chosen = np.asarray(family)
    p, reference = pool.p[chosen], reference_of(pool.shape)
    order = np.argsort(p, kind="stable")
    shares, smallest = step_down(reference, chosen[order].tolist(), p[order])
    adjusted = np.empty(len(p))
    adjusted[order] = np.maximum.accumulate(shares)
    single_step = at_level(pool, family, float(np.quantile(smallest, 1 - confidence)))
    return [replace(ratio, p=float(p)) for ratio, p in zip(single_step, adjusted, strict=True)]


def step_down(reference: Reference, ratios: Sequence[int], p: Array) -> tuple[Array, Array]:
    """Returns two arrays for ratios in the order of their `p`. The first has, for each rank, the share of simulated
    sets in which some ratio of this or a later rank has a p at most as small. The second has the smallest p of each
    simulated set."""
    shares, smallest = np.empty(len(p)), np.ones(reference.draws)
    for rank in reversed(range(len(p))):
        smallest = np.minimum(smallest, reference.p(ratios[rank]))
        shares[rank] = (1 + np.count_nonzero(smallest <= p[rank])) / (1 + reference.draws)
    return shares, smallest


def critical(pool: Pool, family: Sequence[int], confidence: float) -> float:
    """Returns the critical p of a family: if all its stacks are equal, some p falls below it with probability
    1 - confidence."""
    if len(pool.samples) < 2:
        return 1 - confidence
    reference = reference_of(pool.shape)
    smallest = np.minimum.reduce([reference.p(ratio) for ratio in family])
    return float(np.quantile(smallest, 1 - confidence))


def at_level(pool: Pool, family: Sequence[int], p: float) -> list[Estimate]:
    """Estimates pool.samples[i] for i in `family`, each with an interval that misses the true ratio with probability
    `p`."""
    if not family:
        return []
    chosen = np.asarray(family)
    halves, blocks = pool.errors.of(chosen).half(p), [pool.samples[i].blocks for i in family]
    return estimated(pool.means[chosen], halves, pool.p[chosen], blocks)


def floors(twins: Sequence[Sample], beside: Sequence[Sample], confidence: float) -> list[Estimate]:
    """Estimates the ratios of A/A twins to replicate 1, each by itself; `beside` are other ratios that help to show
    which spread is usual.

    A noise floor must not be too narrow: it is as wide as its own blocks make it, or wider if others vary more.
    """
    means, errors = moderated([*twins, *beside])
    unmoderated = np.array([math.sqrt(sample.variance / sample.blocks) for sample in [*twins, *beside]])
    wider = Moderated(np.maximum(errors.errors, unmoderated), errors.freedoms)
    halves, p = wider.half(1 - confidence), wider.p(means)
    of_twins = slice(len(twins))
    return estimated(means[of_twins], halves[of_twins], p[of_twins], [sample.blocks for sample in twins])


def cut(ratio: Estimate, confidence: float) -> Estimate:
    """Returns the ratio; if its step-down p excludes 1, but its interval contains 1, the interval is ended at 1."""
    if ratio.low is None or ratio.high is None or ratio.p is None or ratio.p > 1 - confidence:
        return ratio
    low, high = (max(ratio.low, 1.0), ratio.high) if ratio.value > 1 else (ratio.low, min(ratio.high, 1.0))
    return replace(ratio, low=low, high=high)


def estimated(means: Array, halves: Array, p: Array, blocks: Sequence[int]) -> list[Estimate]:
    """Returns the ratios, with intervals, whose logs have these means and half widths."""
    ends = (np.exp(np.clip(means + side * halves, -LOG_MAX, LOG_MAX)).tolist() for side in (-1, 1))
    figures = zip(means.tolist(), *ends, p.tolist(), blocks, strict=True)
    return [Estimate(math.exp(mean), low, high, p, blocks) for mean, low, high, p, blocks in figures]


def moderated(samples: Collection[Sample]) -> tuple[Array, Moderated]:
    """Returns (mean log-ratios, their moderated errors) of samples."""
    figures = [(sample.mean, sample.variance, sample.blocks, sample.freedom) for sample in samples]
    means, variances, blocks, freedoms = np.array(figures, dtype=float).reshape(-1, 4).T
    return means, moderate(variances, blocks, freedoms)


def shape_of(samples: Collection[Sample]) -> Shape:
    """Returns the numbers that decide the reference distribution of these samples, four for each sample."""
    numbers: dict[str, int] = {}
    shape = [
        (numbers.setdefault(sample.question, len(numbers)), sample.blocks, sample.freedom, sample.controls)
        for sample in samples
    ]
    return np.array(shape, np.int64).tobytes()
