"""A curve through what sizes of one case took of memory: what is fixed, what each item adds, and what would fit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

LINEAR = ("batch",)  # what memory grows with as a line; with a sequence or an image's edge, as its square
GOOD_ERROR = 0.05  # of a curve that may be trusted
LEAST_POINTS = 3  # that a curve keeps, when sizes at which something else has the peak are left out
SIZE_MAX = 1 << 20  # beyond this a limit is no limit


@dataclass(frozen=True, slots=True)
class Curve:
    """Peak bytes over sizes: `coefficients` of 1, size (and its square).

    `since`: the least size that it was drawn through; below it something else has the peak, compiling or placing.
    `error` is the largest relative difference from a peak that was seen from there on.
    """

    coefficients: tuple[float, ...]
    since: int
    points: int
    error: float

    @property
    def fixed_bytes(self) -> float:
        """What is there without any item."""
        return self.coefficients[0]

    @property
    def item_bytes(self) -> float:
        """What the first item adds, and on a line each further one."""
        return sum(self.coefficients[1:])

    @property
    def is_good(self) -> bool:
        """Whether it goes through what was seen."""
        return self.error <= GOOD_ERROR

    def at(self, size: float) -> float:
        """Bytes at a size."""
        return float(sum(each * size**power for power, each in enumerate(self.coefficients)))

    def largest(self, limit_bytes: float) -> int:
        """The largest size under a limit; 0 where none is, `SIZE_MAX` where the curve doesn't grow that far."""
        return last_size(lambda size: self.at(size) <= limit_bytes)


def last_size(holds: Callable[[int], bool]) -> int:
    """The largest size up to `SIZE_MAX` for which something holds that holds for every smaller one; 0 if for none."""
    low, high = 0, SIZE_MAX
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if holds(middle) else (low, middle - 1)
    return low


def curve(peaks: Mapping[int, float], axis: str) -> Curve | None:
    """The curve through peaks by size, or through the larger ones where the smallest lie above it; None for fewer than
    it takes, or if what is added per item isn't positive."""
    degree = 1 if axis in LINEAR else 2
    sizes = sorted(peaks)
    drawn = [
        through({size: peaks[size] for size in sizes[skipped:]}, degree)
        for skipped in range(max(1, len(sizes) - LEAST_POINTS - degree + 2))
        if len(sizes) - skipped > degree
    ]
    return next((each for each in drawn if each and each.is_good), drawn[0] if drawn else None)


def through(peaks: Mapping[int, float], degree: int) -> Curve | None:
    """Least squares of relative differences."""
    sizes, seen = np.array(sorted(peaks), np.float64), np.array([peaks[size] for size in sorted(peaks)])
    terms = np.stack([sizes**power for power in range(degree + 1)], axis=1) / seen[:, None]
    coefficients, *_ = np.linalg.lstsq(terms, np.ones(len(seen)), rcond=None)
    error = float(np.max(np.abs(terms @ coefficients - 1.0)))
    found = Curve(tuple(map(float, coefficients)), int(sizes[0]), len(sizes), error)
    return found if found.at(2 * sizes[-1]) > found.at(sizes[-1]) else None
