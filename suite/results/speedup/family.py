"""Many ratios judged at once: variances that borrow strength, simultaneous intervals, step-down p-values.

A ratio's data are its block log-ratios. Three blocks say little about their own spread (Student's t: 4.3), but the
ratios of a set say together which spread is usual. So each variance is moderated (Smyth 2004, "Linear models and
empirical Bayes methods for assessing differential expression in microarray experiments"): drawn towards the set's
typical one, by as many degrees of freedom as the set's variances agree, at most PRIOR_FREEDOM_MAX.

How surprising the most surprising of many equal stacks is isn't looked up but simulated: the same procedure, on
processes that differ by chance alone, with the blocks, the questions and the shared controls of the set at hand.
That is Dunnett's procedure for variances that aren't equal; from rank to rank it steps down (Westfall, Young 1993;
Romano, Wolf 2005). benchmarks/calibration.py shows on other populations what it keeps.
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
PRIOR_FREEDOM_MAX = 12.0  # what the set has in common never counts for more than thirteen blocks of a ratio's own
UNEQUAL_SPREADS = 0.5  # standard deviation of ln(sd) over the simulated processes: sds of 2 to 10 % have 0.45
DRAWS = 10_000  # simulated sets; 5 % of them is known to +-0.2 %
SEED = 20_250_101
# A few fresh processes that agree to less than 1 % do so by luck. Taken at their word, three of one ratio (to 0.25 %)
# made the other 23 of their set look as if they had nothing in common, and doubled every interval.
VARIANCE_MIN = 1e-4
LOG_MAX = 700.0  # of two blocks an interval may be wider than a float can say
FREEDOMS = np.array([*np.arange(0.5, 8.5, 0.5), 10, 12, 16, 24, 48, 1e3])  # a prior may be worth
TRIGAMMAS = special.polygamma(1, FREEDOMS / 2)


@dataclass(frozen=True, slots=True)
class Sample:
    """What the block log-ratios of one ratio come to (two blocks and more).

    `freedom` is that of the first stage of blocks where a second was sized by its spread (Stein 1945); `controls` is
    how many processes of the baseline a block has, which all ratios of a question share.
    """

    question: str
    mean: float
    variance: float
    blocks: int
    freedom: int
    controls: int

    @classmethod
    def of(cls, question: str, logs: Collection[float], freedom: int, controls: int = 1) -> Sample:
        """Of block log-ratios."""
        mean = fmean(logs)
        return cls(question, mean, spread([*logs]) ** 2, len(logs), freedom, controls)


Shape = tuple[tuple[int, int, int, int], ...]  # of each ratio: the question's number, blocks, freedom, controls


@dataclass(frozen=True, slots=True)
class Moderated:
    """Standard errors of mean log-ratios, and the degrees of freedom of their t; arrays [..., ratios]."""

    errors: Array
    freedoms: Array

    def p(self, means: Array) -> Array:
        """Two-sided p of each mean by itself; a mean without any spread is certain."""
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.abs(means) / self.errors
        tails: Array = 2 * special.stdtr(self.freedoms, -np.where(means == 0, 0.0, t))
        return tails

    def half(self, p: float) -> Array:
        """Half the width, in logs, of intervals that a mean leaves with probability `p`."""
        widths: Array = special.stdtrit(self.freedoms, 1 - p / 2) * self.errors
        return widths


def moderate(variances: Array, blocks: Array, freedoms: Array) -> Moderated:
    """Variances [..., ratios] of `blocks` log-ratios each, drawn towards what they have in common.

    The prior's mean and freedom are Smyth's moment estimates (2004, section 6.2), from ln(variance).
    """
    if variances.shape[-1] < 2:  # one ratio alone has nothing to borrow from
        return Moderated(np.sqrt(variances / blocks), np.broadcast_to(freedoms, variances.shape))
    own = (blocks - 1) / 2
    logs = np.log(np.maximum(variances, VARIANCE_MIN)) - special.digamma(own) + np.log(own)
    excess = logs.var(axis=-1, ddof=1) - special.polygamma(1, own).mean()
    place = np.searchsorted(-TRIGAMMAS, -excess, side="right") - 1  # the most freedom that explains the excess
    prior = FREEDOMS[np.maximum(place, 0)]
    common = np.exp(logs.mean(axis=-1) + special.digamma(prior / 2) - np.log(prior / 2))[..., None]
    weight = np.where(place < 0, 0.0, np.minimum(prior, PRIOR_FREEDOM_MAX))[..., None]
    mixed = (weight * common + freedoms * variances) / (weight + freedoms)
    return Moderated(np.sqrt(mixed / blocks), weight + freedoms)


def simultaneous(pool: Sequence[Sample], asked: Sequence[int], confidence: float) -> list[Estimate]:
    """Estimates of the ratios pool[i] for i in `asked`: these are one family, all of `pool` tells what spread is usual.

    All intervals together hold with `confidence`; p is adjusted for the family, step by step. So p may be small
    enough where the interval still has 1 in it: `cut` ends it there.
    """
    if len(pool) < 2 or not asked:  # one ratio alone: nothing to simulate, it is Student's t
        return at_level(pool, asked, 1 - confidence)
    means, found = moderated(pool)
    chosen = np.asarray(asked)
    p = found.p(means)[chosen]
    order = np.argsort(p, kind="stable")
    equal = reference(shape_of(pool))[chosen[order]]
    smallest = np.minimum.accumulate(equal[::-1])[::-1]  # from each rank on, in each simulated set
    adjusted = np.empty(len(p))
    adjusted[order] = np.maximum.accumulate((1 + (smallest <= p[order, None]).sum(axis=1)) / (1 + DRAWS))
    single_step = at_level(pool, asked, float(np.quantile(smallest[0], 1 - confidence)))
    return [replace(ratio, p=float(each)) for ratio, each in zip(single_step, adjusted, strict=True)]


def critical(pool: Sequence[Sample], asked: Sequence[int], confidence: float) -> float:
    """The p that the smallest of a family of equal stacks goes under with probability 1 - confidence."""
    if len(pool) < 2:
        return 1 - confidence
    return float(np.quantile(reference(shape_of(pool))[np.asarray(asked)].min(axis=0), 1 - confidence))


def at_level(pool: Sequence[Sample], asked: Sequence[int], p: float) -> list[Estimate]:
    """Estimates of pool[i] for i in `asked`, each with an interval that it leaves with probability `p`."""
    if not asked:
        return []
    means, found = moderated(pool)
    halves, alone = found.half(p), found.p(means)
    return [estimate(means[i], halves[i], float(alone[i]), pool[i].blocks) for i in asked]


def floors(own: Sequence[Sample], beside: Sequence[Sample], confidence: float) -> list[Estimate]:
    """Estimates of A/A pairs, each by itself; `beside` them stand ratios that help to say what spread is usual.

    A floor protects: it is as wide as its own blocks make it, or wider where the others vary more.
    """
    means, found = moderated([*own, *beside])
    alone = np.array([math.sqrt(sample.variance / sample.blocks) for sample in [*own, *beside]])
    wider = Moderated(np.maximum(found.errors, alone), found.freedoms)
    halves, p = wider.half(1 - confidence), wider.p(means)
    return [estimate(means[i], halves[i], float(p[i]), sample.blocks) for i, sample in enumerate(own)]


def cut(ratio: Estimate, confidence: float) -> Estimate:
    """The interval ended at 1 where the step-down p excludes 1 and the single-step interval doesn't yet."""
    if ratio.low is None or ratio.high is None or ratio.p is None or ratio.p > 1 - confidence:
        return ratio
    low, high = (max(ratio.low, 1.0), ratio.high) if ratio.value > 1 else (ratio.low, min(ratio.high, 1.0))
    return replace(ratio, low=low, high=high)


def estimate(mean: float, half: float, p: float, blocks: int) -> Estimate:
    """From logs to ratios."""
    low, high = (float(np.exp(np.clip(mean + side * half, -LOG_MAX, LOG_MAX))) for side in (-1, 1))
    return Estimate(math.exp(mean), low, high, p, blocks)


def moderated(pool: Sequence[Sample]) -> tuple[Array, Moderated]:
    """(mean log-ratios, their moderated errors) of samples."""
    means = np.array([sample.mean for sample in pool])
    variances = np.array([sample.variance for sample in pool])
    return means, moderate(variances, *columns(shape_of(pool)))


def shape_of(pool: Sequence[Sample]) -> Shape:
    """What the reference distribution depends on."""
    numbers: dict[str, int] = {}
    return tuple(
        (numbers.setdefault(sample.question, len(numbers)), sample.blocks, sample.freedom, sample.controls)
        for sample in pool
    )


def columns(shape: Shape) -> tuple[Array, Array]:
    """(blocks, freedoms) of a shape."""
    _, blocks, freedoms, _ = np.array(shape, dtype=float).T
    return blocks, freedoms


@lru_cache(maxsize=16)
def reference(shape: Shape) -> Array:
    """p of every ratio [ratios, DRAWS] where all stacks are equal: the procedure on simulated processes.

    Processes of a stack, and of the control, have a standard deviation of their own, log-normal over stacks.
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
    """Log-times [DRAWS, blocks] of processes whose standard deviation is drawn for each simulated set."""
    spreads = np.exp(random.normal(0, UNEQUAL_SPREADS, (DRAWS, 1)))
    logs: Array = spreads * random.standard_normal((DRAWS, blocks))
    return logs
