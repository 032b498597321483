"""Judges many ratios at once: simultaneous intervals, and p adjusted by Holm's step-down procedure (1979).

With probability `confidence`, all intervals of a family contain the true ratio (Bonferroni). Each ratio's variance
borrows strength from the others (`moderation`). benchmarks/calibration.py measures the error rates of the procedure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

from suite.stats import Estimate, Mean, holm

Key = TypeVar("Key")


def together(means: Mapping[Key, Mean], confidence: float) -> dict[Key, Estimate]:
    """Estimates the ratios of moderated mean log-ratios that are judged together: simultaneous intervals, adjusted
    p."""
    doubt, adjusted = doubt_of_each(confidence, len(means)), holm([mean.p for mean in means.values()])
    return {key: replace(mean.ratio(doubt), p=p) for (key, mean), p in zip(means.items(), adjusted, strict=True)}


def doubt_of_each(confidence: float, size: int) -> float:
    """Returns the error probability of each interval of a family of this size."""
    return (1 - confidence) / max(1, size)


def stepped_down(means: Mapping[Key, Mean], confidence: float) -> dict[Key, Estimate]:
    """Estimates ratios as `together` does. An adjusted p may be small enough for a verdict where the simultaneous
    interval still contains 1: then the interval is ended at 1."""
    return {key: cut(ratio, confidence) for key, ratio in together(means, confidence).items()}


def cut(ratio: Estimate, confidence: float) -> Estimate:
    if ratio.low is None or ratio.high is None or ratio.p is None or ratio.p > 1 - confidence:
        return ratio
    low, high = (max(ratio.low, 1.0), ratio.high) if ratio.value > 1 else (ratio.low, min(ratio.high, 1.0))
    return replace(ratio, low=low, high=high)
