"""Steady state, intervals and verdicts, as pure functions. Imports the standard library only, since workers use it."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Literal

NORMAL_CONSISTENT = 1.4826  # the standard deviation of a normal sample over its median absolute deviation
MEDIAN_EFFICIENCY = 1.2533  # the standard error of a normal sample's median over that of its mean
DRIFT_MIN = 0.01  # log times that differ by less never count as drift
DRIFT_ERRORS = 3.0  # log times that differ by fewer standard errors don't count as drift either
CLOSE = 1.10  # `close`: the interval excludes a difference of more than 10 %
FLOOR_MAX = 1.10  # on a machine with a noise floor beyond ±10 %, ratios of stacks say little
MODES_SPREAD = 1.3  # equal processes whose slowest takes more than this times the fastest run in more than one mode


@dataclass(frozen=True, slots=True)
class Steady:
    """How many leading samples are warm-up, and whether the samples after them are steady."""

    warmup: int
    state: Literal["steady", "assumed", "no_steady_state"]


def steady_start(samples: Sequence[float]) -> Steady:
    """Returns where the steady state of positive `samples` (seconds) begins.

    From 40 samples on, the warm-up minimises the MSER statistic (White 1997, "An effective truncation
    heuristic for bias reduction in simulation output") over medians of small batches; then the first and
    the last third of the other samples must agree. Fewer samples can't show a steady state: it is `assumed`.
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
    """Returns the d in 0..k/2 that minimises the squared deviations of values[d:] over (k - d)^2; k is their number."""

    def statistic(d: int) -> float:
        kept = values[d:]
        mean = fmean(kept)
        return sum((value - mean) ** 2 for value in kept) / len(kept) ** 2

    return min(range(len(values) // 2 + 1), key=statistic)


def thirds_agree(logs: Sequence[float]) -> bool:
    """Whether the medians of the first and the last third differ by no more than noise."""
    size = len(logs) // 3
    first, last = logs[:size], logs[-size:]
    variance = sum(
        (MEDIAN_EFFICIENCY * NORMAL_CONSISTENT * deviation(third)) ** 2 / len(third) for third in (first, last)
    )
    return abs(median(first) - median(last)) <= max(DRIFT_MIN, DRIFT_ERRORS * math.sqrt(variance))


def deviation(values: Sequence[float]) -> float:
    """Returns the median absolute deviation from the median."""
    centre = median(values)
    return median(abs(value - centre) for value in values)


Word = Literal["faster", "slower", "tie", "close", "undecided"]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A geometric mean over blocks with its confidence interval; a single block has no interval.

    The mean is of speedups t_B / t_A (above 1, A is faster), or of a step's times in seconds. That of differences in
    seconds (`mean_of`) is arithmetic.
    """

    value: float
    low: float | None = None
    high: float | None = None
    p: float | None = None  # two-sided, of the speedup being 1; in a family, adjusted for the other ratios
    blocks: int = 0


LOG_MAX = 700.0  # exp of more overflows a float, and the interval of two blocks may be that wide


@dataclass(frozen=True, slots=True)
class Mean:
    """The mean of a number of blocks, with its standard error and the degrees of freedom of its Student's t."""

    value: float
    error: float
    freedom: float
    blocks: int

    @classmethod
    def of(cls, values: Collection[float], freedom: float) -> Mean:
        """Returns the mean of two values or more, each of one block."""
        return cls(fmean(values), spread(values) / math.sqrt(len(values)), freedom, len(values))

    @property
    def p(self) -> float:
        """The two-sided p of the true mean being 0; 0 for any other mean whose error is 0."""
        from scipy import special  # workers' environments lack scipy

        if self.error == 0:
            return float(self.value == 0)
        return float(2 * special.stdtr(self.freedom, -abs(self.value) / self.error))

    def half(self, doubt: float) -> float:
        """Returns half the width of the interval that misses the true mean with probability `doubt`."""
        from scipy import special

        return float(special.stdtrit(self.freedom, 1 - doubt / 2)) * self.error

    def ratio(self, doubt: float) -> Estimate:
        """Returns the ratio whose logarithm this is, with such an interval."""
        half = self.half(doubt)
        low, high = (math.exp(max(-LOG_MAX, min(LOG_MAX, self.value + side * half))) for side in (-1, 1))
        return Estimate(math.exp(self.value), low, high, self.p, self.blocks)


def ratio_of(log_ratios: Sequence[float], freedom: int, confidence: float) -> Estimate:
    """Returns the geometric mean of block ratios with its t interval.

    `log_ratios` are ln(t_B/t_A) block by block. `freedom` has the degrees of freedom of the first stage of blocks,
    because the size of a second stage depends on the first one's spread (Stein 1945).
    """
    if len(log_ratios) < 2 or freedom < 1:
        return Estimate(math.exp(fmean(log_ratios)), blocks=len(log_ratios))
    return Mean.of(log_ratios, freedom).ratio(1 - confidence)


def mean_of(differences: Sequence[float], freedom: int, confidence: float) -> Estimate:
    """Returns the arithmetic mean of differences in seconds with its t interval; one difference has no interval."""
    if len(differences) < 2 or freedom < 1:
        return Estimate(fmean(differences), blocks=len(differences))
    mean = Mean.of(differences, freedom)
    half = mean.half(1 - confidence)
    return Estimate(mean.value, mean.value - half, mean.value + half, blocks=mean.blocks)


def spread(values: Collection[float]) -> float:
    """Returns the sample standard deviation."""
    mean = fmean(values)
    return math.sqrt(sum((value - mean) ** 2 for value in values) / (len(values) - 1))


def verdict(ratio: Estimate, tie: float) -> Word:
    """Returns the verdict on a ratio, which depends on its interval alone.

    A `tie` has its whole interval inside the band 1 / `tie` to `tie`. Else an interval on one side of 1 is `faster` or
    `slower`; one that contains 1 is `close` if it lies inside the band of `CLOSE`, else `undecided`.
    """
    if ratio.low is None or ratio.high is None:
        return "undecided"
    if 1 / tie <= ratio.low and ratio.high <= tie:
        return "tie"
    if ratio.low >= 1:
        return "faster"
    if ratio.high <= 1:
        return "slower"
    return "close" if ratio.low >= 1 / CLOSE and ratio.high <= CLOSE else "undecided"


def is_doubtful(floor: Estimate, confidence: float) -> bool:
    """Whether an A/A twin differs from replicate 1 by more than chance; `floor.p` is adjusted for all twins."""
    return floor.p is not None and floor.p <= 1 - confidence


def reach(ratio: Estimate) -> float | None:
    """Returns the half-width of an interval as a factor: 1.04 for ±4 %; None without an interval."""
    if ratio.low is None or ratio.high is None:
        return None
    return math.sqrt(ratio.high / ratio.low) if ratio.low > 0 else math.inf


def holm(values: Sequence[float]) -> list[float]:
    """Returns p-values of a family, each adjusted for the others by stepping down (Holm 1979)."""
    adjusted, greatest = [0.0] * len(values), 0.0
    for rank, index in enumerate(sorted(range(len(values)), key=lambda index: values[index])):
        greatest = max(greatest, min(1.0, (len(values) - rank) * values[index]))
        adjusted[index] = greatest
    return adjusted


def has_modes(seconds: Sequence[float]) -> bool:
    """Whether equal processes run in more than one mode, by their medians."""
    return len(seconds) > 1 and max(seconds) > MODES_SPREAD * min(seconds)


def blocks_needed(ratios: Iterable[Estimate], least: int, most: int, tie: float) -> int:
    """Returns the number of blocks that makes the widest of the first stage's intervals as narrow as the tie band.

    An interval's width falls with the square root of the number of blocks. The second stage keeps the first one's
    degrees of freedom, and so the critical value of these intervals (Stein 1945).
    """
    needed = (
        ratio.blocks * (math.log(ratio.high / ratio.low) / 2 / math.log(tie)) ** 2
        for ratio in ratios
        if ratio.low and ratio.high is not None
    )
    return min(most, max(least, math.ceil(min(most, max(needed, default=0.0)))))


def outliers(samples: Sequence[float]) -> int:
    """Returns how many samples lie more than three interquartile ranges beyond the quartiles (Tukey): they are counted,
    never dropped."""
    if len(samples) < 4:
        return 0
    ordered = sorted(samples)
    low, high = percentile(ordered, 25), percentile(ordered, 75)
    reach = 3 * (high - low)
    return bisect_left(ordered, low - reach) + len(ordered) - bisect_right(ordered, high + reach)


def percentile(samples: Sequence[float], percent: float) -> float:
    """Returns the percentile by linear interpolation; NaN without samples."""
    if not samples:
        return math.nan
    ordered = sorted(samples)
    position = (len(ordered) - 1) * percent / 100
    below = math.floor(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (position - below)
