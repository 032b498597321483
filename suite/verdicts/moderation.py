"""Moderates variances: the spread of a ratio's few blocks is combined with the usual spread of all ratios of a set.

A ratio's data are its block log-ratios. Three blocks say little about their own spread (Student's t: 4.3), but all
ratios of a set together show which spread is usual. So each variance is moderated (Smyth 2004, "Linear models and
empirical Bayes methods for assessing differential expression in microarray experiments"): it is drawn towards the
set's typical variance. The better the variances agree, the more degrees of freedom the typical variance counts for, at
most PRIOR_FREEDOM_MAX, and for fewer than there are ratios: two ratios over one baseline share its noise, so that their
variances agree by construction.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from suite.stats import Mean

Key = TypeVar("Key")
Array = NDArray[np.float64]

# Chosen by benchmarks/calibration.py; docs/why/statistics.md says how.
PRIOR_FREEDOM_MAX = 5.0  # the set's typical variance never counts for more than six blocks of a ratio
# A few fresh processes that agree to less than 1 % do so by luck. Without this minimum, one ratio whose three blocks
# agreed to 0.25 % made the other 23 variances of its set look unrelated, and doubled every interval.
VARIANCE_MIN = 1e-4
FREEDOMS = np.array([*np.arange(0.5, 8.5, 0.5), 10, 12, 16, 24, 48, 1e3])  # the values tried for the prior


def moderate(means: Mapping[Key, Mean]) -> dict[Key, Mean]:
    """Returns the means, each with its variance drawn towards the typical variance of all."""
    if len(means) < 2:  # a single ratio has no others to learn from
        return dict(means)
    blocks = np.array([mean.blocks for mean in means.values()], dtype=float)
    variances = np.array([mean.error**2 for mean in means.values()]) * blocks
    typical, weight = prior(variances, blocks)
    found = {}
    for (key, mean), variance in zip(means.items(), variances.tolist(), strict=True):
        freedom = weight + mean.freedom
        mixed = (weight * typical + mean.freedom * variance) / freedom
        found[key] = replace(mean, error=float(np.sqrt(mixed / mean.blocks)), freedom=freedom)
    return found


def prior(variances: Array, blocks: Array) -> tuple[float, float]:
    """Returns the typical one of variances of so many blocks each, and the degrees of freedom that it counts for, by
    Smyth's moment estimates (2004, section 6.2)."""
    from scipy import special  # takes a quarter of a second to import, and no run needs it before its first blocks

    half = (blocks - 1) / 2
    logs = np.log(np.maximum(variances, VARIANCE_MIN)) - special.digamma(half) + np.log(half)
    excess = logs.var(ddof=1) - special.polygamma(1, half).mean()
    explaining = FREEDOMS[excess <= special.polygamma(1, FREEDOMS / 2)]
    freedom = explaining[-1] if len(explaining) else FREEDOMS[0]  # the most freedom that explains the excess
    typical = np.exp(logs.mean() + special.digamma(freedom / 2) - np.log(freedom / 2))
    most = min(PRIOR_FREEDOM_MAX, len(logs) - 1)
    return float(typical), min(float(freedom), most) if len(explaining) else 0.0
