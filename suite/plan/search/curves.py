"""A curve through a stack's peak memory over sizes: the fixed part, the part of each item, and the sizes that fit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

LINEAR_AXES = ("batch",)  # memory grows linearly with these; with the square of a sequence or an image's edge
GOOD_ERROR = 0.05  # a curve with a larger error isn't trusted
LEAST_POINTS = 3  # of a straight line that leaves out the smallest sizes; a parabola keeps one point more
SIZE_MAX = 1 << 30  # a limit that allows more doesn't limit anything


@dataclass(frozen=True, slots=True)
class MemoryCurve:
    """Peak bytes over sizes: `coefficients` of 1, size (and its square).

    `since` is the smallest of the `points` sizes that the curve goes through; below it, the peak isn't the step's but
    comes from compiling or placing, say. `error` is the largest relative difference from those peaks.
    """

    coefficients: tuple[float, ...]
    since: int
    points: int
    error: float

    @property
    def fixed_bytes(self) -> float:
        return self.coefficients[0]

    @property
    def item_bytes(self) -> float:
        """Returns the bytes that the first item adds; on a straight line, each further item adds as many."""
        return sum(self.coefficients[1:])

    @property
    def is_good(self) -> bool:
        return self.error <= GOOD_ERROR

    def at(self, size: float) -> float:
        return float(sum(factor * size**power for power, factor in enumerate(self.coefficients)))

    def largest(self, limit_bytes: float) -> int:
        """Returns the largest size under a limit; 0 if no size is, `SIZE_MAX` if the curve never exceeds the limit."""
        return last_size(lambda size: self.at(size) <= limit_bytes)


def last_size(holds: Callable[[int], bool]) -> int:
    """Returns the largest size up to `SIZE_MAX` for which `holds` is true, and for all smaller ones; 0 if none."""
    low, high = 0, SIZE_MAX
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if holds(middle) else (low, middle - 1)
    return low


def curve(peaks: Mapping[int, float], axis: str) -> MemoryCurve | None:
    """Returns the curve through {size: peak}. If it isn't good, the smallest sizes are left out, as many as needed.
    Returns None if there are too few points, or if the curve doesn't rise."""
    degree = 1 if axis in LINEAR_AXES else 2
    sizes = sorted(peaks)
    drawn = [
        through({size: peaks[size] for size in sizes[skipped:]}, degree)
        for skipped in range(max(1, len(sizes) - LEAST_POINTS - degree + 2))
        if len(sizes) - skipped > degree
    ]
    return next((curve for curve in drawn if curve and curve.is_good), drawn[0] if drawn else None)


def through(peaks: Mapping[int, float], degree: int) -> MemoryCurve | None:
    """Returns the curve with the least squares of relative differences; None if it doesn't rise beyond the largest
    size."""
    sizes, seen = np.array(sorted(peaks), np.float64), np.array([peaks[size] for size in sorted(peaks)])
    terms = np.stack([sizes**power for power in range(degree + 1)], axis=1) / seen[:, None]
    coefficients, *_ = np.linalg.lstsq(terms, np.ones(len(seen)), rcond=None)
    error = float(np.max(np.abs(terms @ coefficients - 1.0)))
    curve = MemoryCurve(tuple(map(float, coefficients)), int(sizes[0]), len(sizes), error)
    return curve if curve.at(2 * sizes[-1]) > curve.at(sizes[-1]) else None
