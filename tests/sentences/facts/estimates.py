"""Moderated means, their intervals, and verdicts, by docs/why/statistics.md."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import special

CLOSE = 1.1
FREEDOM_MOST = 5.0
VARIANCE_LEAST = 1e-4
FREEDOMS = [*np.arange(0.5, 8.5, 0.5), 10, 12, 16, 24, 48, 1e3]


@dataclass(frozen=True)
class Ratio:
    """A ratio with its interval (None: of one block), its verdict in its question and in its set, and its blocks."""

    value: float
    low: float | None = None
    high: float | None = None
    word: str = "undecided"
    reason: str = ""
    in_set: str = "undecided"
    logs: dict[int, float] = field(default_factory=dict)
    p: float = 1.0

    @property
    def reach(self) -> float | None:
        return None if self.low is None or self.high is None else math.sqrt(self.high / self.low)


@dataclass(frozen=True)
class Mean:
    value: float
    error: float
    freedom: float
    blocks: int

    @property
    def p(self) -> float:
        return (
            float(2 * special.stdtr(self.freedom, -abs(self.value) / self.error))
            if self.error
            else float(not self.value)
        )

    def ends(self, doubt: float) -> tuple[float, float]:
        half = float(special.stdtrit(self.freedom, 1 - doubt / 2)) * self.error
        return math.exp(max(-700.0, self.value - half)), math.exp(min(700.0, self.value + half))


def moderated(means: dict[Any, Mean]) -> dict[Any, Mean]:
    """Draws each variance towards the common one, by Smyth's moment estimates (2004, section 6.2)."""
    if len(means) < 2:
        return means
    blocks = np.array([mean.blocks for mean in means.values()], float)
    spreads, half = np.array([mean.error**2 for mean in means.values()]) * blocks, (blocks - 1) / 2
    e = np.log(np.maximum(spreads, VARIANCE_LEAST)) - special.digamma(half) + np.log(half)
    excess = e.var(ddof=1) - special.polygamma(1, half).mean()
    fitting = [d for d in FREEDOMS if special.polygamma(1, d / 2) >= excess]
    d0 = fitting[-1] if fitting else FREEDOMS[0]
    s0 = math.exp(e.mean() + special.digamma(d0 / 2) - math.log(d0 / 2))
    weight = min(d0, FREEDOM_MOST, len(means) - 1) if fitting else 0.0
    return {
        key: Mean(
            mean.value,
            math.sqrt((weight * s0 + mean.freedom * spread) / (weight + mean.freedom) / mean.blocks),
            weight + mean.freedom,
            mean.blocks,
        )
        for (key, mean), spread in zip(means.items(), spreads, strict=True)
    }


def holm(ps: dict[Any, float]) -> dict[Any, float]:
    found, most = {}, 0.0
    for rank, key in enumerate(sorted(ps, key=lambda key: ps[key])):
        most = max(most, min(1.0, (len(ps) - rank) * ps[key]))
        found[key] = most
    return found


def ended_at_1(means: dict[Any, Mean], doubt: float) -> dict[Any, tuple[float, float]]:
    """Returns simultaneous intervals; one whose adjusted p excludes 1 while the interval doesn't is ended at 1."""
    adjusted, found = holm({key: mean.p for key, mean in means.items()}), {}
    for key, mean in means.items():
        low, high = mean.ends(doubt / len(means))
        if adjusted[key] <= doubt:
            low, high = (max(low, 1.0), high) if mean.value > 0 else (low, min(high, 1.0))
        found[key] = low, high
    return found


def word_of(low: float | None, high: float | None, tie: float) -> str:
    if low is None or high is None:
        return "undecided"
    if 1 / tie <= low and high <= tie:
        return "tie"
    if low >= 1 or high <= 1:
        return "faster" if low >= 1 else "slower"
    return "close" if low >= 1 / CLOSE and high <= CLOSE else "undecided"


def judged(
    value: float, low: float | None, high: float | None, tie: float, floor: Ratio | None, best: Ratio | None
) -> tuple[str, str]:
    """Returns the verdict, and why it is undecided although the interval alone would allow one."""
    word = word_of(low, high, tie)
    if word in ("faster", "slower") and floor and floor.low and floor.high:
        most = max(floor.high, 1 / floor.low)
        if 1 / most <= value <= most:
            return "undecided", "equal processes differ as much"
    if best and word not in ("undecided", word_of(best.low, best.high, tie)):
        if best.low is None:
            return "undecided", "two modes, and the fast processes of the two stacks share fewer than two blocks"
        fast = word_of(best.low, best.high, tie)
        return "undecided", f"two modes: {word} by all processes, {fast} by the fast ones alone"
    return word, ""
