"""Moderates variances: the spread of a ratio's few blocks is combined with the usual spread of all ratios of a set.

A ratio's data are its block log-ratios. Three blocks say little about their own spread (Student's t: 4.3), but all
ratios of a set together show which spread is usual. So each variance is moderated (Smyth 2004, "Linear models and
empirical Bayes methods for assessing differential expression in microarray experiments"): it is drawn towards the
set's typical variance. The better the variances agree, the more degrees of freedom the typical variance counts for, at
most PRIOR_FREEDOM_MAX.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

Array = NDArray[np.float64]

# Chosen by benchmarks/calibration.py; docs/why/method.md says how.
PRIOR_FREEDOM_MAX = 12.0  # the set's typical variance never counts for more than thirteen blocks of a ratio
# A few fresh processes that agree to less than 1 % do so by luck. Without this minimum, one ratio whose three blocks
# agreed to 0.25 % made the other 23 variances of its set look unrelated, and doubled every interval.
VARIANCE_MIN = 1e-4
FREEDOMS = np.array([*np.arange(0.5, 8.5, 0.5), 10, 12, 16, 24, 48, 1e3])  # the values tried for the prior
TRIGAMMAS = special.polygamma(1, FREEDOMS / 2)


@dataclass(frozen=True, slots=True)
class Moderated:
    """Standard errors of mean log-ratios, with the degrees of freedom of their t; arrays [..., ratios]."""

    errors: Array
    freedoms: Array

    def t(self, means: Array) -> Array:
        """Returns the size of each mean in standard errors: 0 for a mean of 0, infinite for any other mean whose error
        is 0."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(means == 0, 0.0, np.abs(means) / self.errors)

    def p(self, means: Array) -> Array:
        """Returns the two-sided p of each mean by itself; 0 for a mean other than 0 whose error is 0."""
        tails: Array = 2 * special.stdtr(self.freedoms, -self.t(means))
        return tails

    def half(self, p: float) -> Array:
        """Returns half the width, in logs, of the intervals that miss the true mean with probability `p`."""
        widths: Array = special.stdtrit(self.freedoms, 1 - p / 2) * self.errors
        return widths

    def of(self, places: NDArray[np.intp]) -> Moderated:
        """Returns the errors of some ratios, by their indices."""
        return Moderated(self.errors[places], self.freedoms[places])


@dataclass(frozen=True, slots=True)
class Prior:
    """The typical variance of the ratios of a set, and the degrees of freedom that it counts for; arrays [...] with an
    entry for each set."""

    variances: Array
    freedoms: Array

    @classmethod
    def of(cls, means: Array, variances: Array, blocks: Array) -> Prior:
        """Returns Smyth's moment estimates (2004, section 6.2), from mean and variance over the ratios of
        `log_variances`; `blocks` has the number of blocks of each ratio."""
        excess = variances - special.polygamma(1, (blocks - 1) / 2).mean()
        index = np.searchsorted(-TRIGAMMAS, -excess, side="right") - 1  # the most freedom that explains the excess
        prior = FREEDOMS[np.maximum(index, 0)]
        typical = np.exp(means + special.digamma(prior / 2) - np.log(prior / 2))
        return cls(typical, np.where(index < 0, 0.0, np.minimum(prior, PRIOR_FREEDOM_MAX)))

    def moderate(self, variances: Array, blocks: Array | float, freedoms: Array | float) -> Moderated:
        """Draws variances of `blocks` log-ratios each towards the typical variance. The arrays have one shape, or
        shapes that numpy broadcasts."""
        mixed = (self.freedoms * self.variances + freedoms * variances) / (self.freedoms + freedoms)
        return Moderated(np.sqrt(mixed / blocks), self.freedoms + freedoms)


def log_variances(variances: Array, blocks: Array | float) -> Array:
    """Returns ln(variance), corrected so that its mean is ln(true variance). Each variance is that of `blocks`
    log-ratios."""
    half = (blocks - 1) / 2
    logs: Array = np.log(np.maximum(variances, VARIANCE_MIN)) - special.digamma(half) + np.log(half)
    return logs


def moderate(variances: Array, blocks: Array, freedoms: Array) -> Moderated:
    """Draws variances [ratios] of `blocks` log-ratios each towards their typical variance."""
    if len(variances) < 2:  # a single ratio has no others to learn from
        return Moderated(np.sqrt(variances / blocks), freedoms)
    logs = log_variances(variances, blocks)
    return Prior.of(logs.mean(), logs.var(ddof=1), blocks).moderate(variances, blocks, freedoms)
