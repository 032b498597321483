"""Intervals, verdicts, steady state: pure functions. Standard library only at import: workers use it too."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Literal

NORMAL_CONSISTENT = 1.4826  # MAD of a normal sample times this estimates its standard deviation
MEDIAN_EFFICIENCY = 1.2533  # standard error of a median over that of a mean, normal samples
DRIFT_MIN = 0.01  # thirds closer than this in log t never count as drift
DRIFT_ERRORS = 3.0
FLOOR_MAX = 1.10  # equal processes whose interval is wider than ±10 % say little about unequal ones
MODES_SPREAD = 1.3  # slowest over fastest of equal processes: above it they run in more than one mode


@dataclass(frozen=True, slots=True)
class Steady:
    """How many leading samples are warm-up, and whether what follows is steady."""

    warmup: int
    state: Literal["steady", "assumed", "no_steady_state"]


def steady_start(samples: Sequence[float]) -> Steady:
    """Where the steady state of positive `samples` (seconds) begins.

    From 40 samples on, the warm-up minimises the MSER statistic (White 1997, "An effective truncation
    heuristic for bias reduction in simulation output") over medians of small batches; then the first and
    the last third of what is kept must agree. Fewer samples can't tell: `assumed`.
    """
    logs = [math.log(sample) for sample in samples]
    count = len(logs)
    if count < 20:
        return Steady(min(1, max(count - 1, 0)), "assumed")
    if count < 40:
        return Steady(2, "assumed" if thirds_agree(logs[2:]) else "no_steady_state")
    size = 5 if count >= 100 else 3
    batches = [median(logs[i : i + size]) for i in range(0, count - size + 1, size)]
    dropped = mser(batches)
    if dropped >= len(batches) / 2:
        return Steady(dropped * size, "no_steady_state")
    kept = logs[dropped * size :]
    return Steady(dropped * size, "steady" if thirds_agree(kept) else "no_steady_state")


def mser(values: Sequence[float]) -> int:
    """The d in 0..k/2 that minimises the squared deviations of values[d:] over (k - d)^2."""

    def statistic(d: int) -> float:
        kept = values[d:]
        mean = fmean(kept)
        return sum((value - mean) ** 2 for value in kept) / len(kept) ** 2

    return min(range(len(values) // 2 + 1), key=statistic)


def thirds_agree(logs: Sequence[float]) -> bool:
    """Whether the medians of the first and last third differ by no more than noise."""
    size = len(logs) // 3
    first, last = logs[:size], logs[-size:]
    variance = sum(
        (MEDIAN_EFFICIENCY * NORMAL_CONSISTENT * deviation(third)) ** 2 / len(third) for third in (first, last)
    )
    return abs(median(first) - median(last)) <= max(DRIFT_MIN, DRIFT_ERRORS * math.sqrt(variance))


def deviation(values: Sequence[float]) -> float:
    """The median absolute deviation from the median."""
    centre = median(values)
    return median(abs(value - centre) for value in values)


Word = Literal["faster", "slower", "tie", "undecided"]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A geometric mean over blocks with its interval; one block alone has none.

    Of a speedup t_B / t_A (above 1, A is faster), or of the time of a step, one process a block.
    """

    value: float
    low: float | None = None
    high: float | None = None
    p: float | None = None  # two-sided, that a speedup is 1; of a family of ratios adjusted for the others
    blocks: int = 0


def ratio_of(log_ratios: Sequence[float], freedom: int, confidence: float) -> Estimate:
    """The geometric mean of block ratios with its t interval.

    `log_ratios` are ln(t_B/t_A) block by block; `freedom` is that of the first stage of blocks, because a
    second stage was sized by the first one's spread (Stein 1945).
    """
    from scipy import special  # the workers' environments don't have it; `stats` takes half a second to import

    count = len(log_ratios)
    mean = fmean(log_ratios)
    if count < 2 or freedom < 1:
        return Estimate(math.exp(mean), None, None, None, count)
    error = spread(log_ratios) / math.sqrt(count)
    half = float(special.stdtrit(freedom, 0.5 + confidence / 2)) * error
    p = float(2 * special.stdtr(freedom, -abs(mean) / error)) if error > 0 else float(mean == 0)
    return Estimate(math.exp(mean), math.exp(mean - half), math.exp(mean + half), p, count)


def spread(values: Sequence[float]) -> float:
    """The sample standard deviation."""
    mean = fmean(values)
    return math.sqrt(sum((value - mean) ** 2 for value in values) / (len(values) - 1))


def verdict(ratio: Estimate, tie: float, floor: Estimate | None = None) -> Word:
    """One of four words, read off the interval that is shown.

    `floor` is what equal processes differ by: `faster` and `slower` need a ratio outside of its interval.
    """
    if ratio.low is None or ratio.high is None:
        return "undecided"
    if 1 / tie <= ratio.low and ratio.high <= tie:
        return "tie"
    if floor and floor.low is not None and floor.high is not None and floor.low <= ratio.value <= floor.high:
        return "undecided"
    if ratio.low >= 1:
        return "faster"
    return "slower" if ratio.high <= 1 else "undecided"


def is_doubtful(floor: Estimate) -> bool:
    """Whether equal processes differ so much, or so surely, that no verdict beside them should be trusted."""
    if floor.low is None or floor.high is None:
        return False
    return floor.high / floor.low > FLOOR_MAX**2 or floor.low > 1 or floor.high < 1


def has_modes(seconds: Sequence[float]) -> bool:
    """Whether equal processes (their medians) differ by more than the noise of one mode."""
    return len(seconds) > 1 and max(seconds) > MODES_SPREAD * min(seconds)


def blocks_needed(ratios: Iterable[Estimate], least: int, most: int, tie: float) -> int:
    """Blocks for intervals as narrow as the tie band: what the widest of the first stage asks for (Stein 1945).

    A width goes with the root of the blocks, and the second stage keeps the degrees of freedom of the first, so its
    critical value is the one in these intervals.
    """
    needed = (
        ratio.blocks * (math.log(ratio.high / ratio.low) / 2 / math.log(tie)) ** 2
        for ratio in ratios
        if ratio.low and ratio.high is not None
    )
    return min(most, max(least, math.ceil(min(most, max(needed, default=0.0)))))


def outliers(samples: Sequence[float]) -> int:
    """How many lie beyond three interquartile ranges of the quartiles (Tukey): flagged, never dropped."""
    if len(samples) < 4:
        return 0
    low, high = percentile(samples, 25), percentile(samples, 75)
    reach = 3 * (high - low)
    return sum(not low - reach <= sample <= high + reach for sample in samples)


def percentile(samples: Sequence[float], percent: float) -> float:
    """The percentile by linear interpolation; NaN for no samples."""
    if not samples:
        return math.nan
    ordered = sorted(samples)
    place = (len(ordered) - 1) * percent / 100
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)
