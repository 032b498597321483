"""Chooses the next size to try when searching for the largest that fits in memory: by a curve through the memory peaks,
else by doubling or halving."""

from __future__ import annotations

import math
from collections.abc import Mapping

from suite.plan.search.bracket import Bracket
from suite.plan.search.curves import LINEAR_AXES, SIZE_MAX, curve

NEAR = 4  # the curve uses sizes from a fourth of the largest that fits; smaller ones may peak at another operation
FARTHER = 8  # the next size is at most so many times the largest that fits


def first_size(axis: str, most: int, own: int) -> int:
    """Returns the first size to try: one sample for a batch; 1/64 of the largest that the workload's rules allow; where
    they allow any, the workload's `own`."""
    if axis in LINEAR_AXES:
        return 1
    return own if most == SIZE_MAX else max(1, most // 64)


def next_size(
    seen: Mapping[int, float | None], limit_bytes: float | None, axis: str, most: int, tolerance: float = 0.0
) -> int | None:
    """Returns the size to try next; None once the largest that fits is known to within `tolerance` (a fraction of the
    size).

    `seen` has the peak in bytes of each size that fits, None for each that ran out of memory; `most` is the
    largest size that is allowed.
    """
    bracket = Bracket.of({size: peak is not None for size, peak in seen.items()})
    low, high = bracket.low, most + 1 if bracket.high is None else bracket.high
    if low == most or bracket.is_closed(tolerance):
        return None
    if not seen:
        return min(first_size(axis, most, 1), most)
    guess = size_by_curve(seen, low, axis, limit_bytes)
    middle = round(math.sqrt(max(low, 1) * high))
    if guess is None:
        size = 2 * low if bracket.high is None else (low + high) // 2
    elif guess <= low:  # sizes at or above the guess fit: one step up, the step doubled each time, or the middle
        beyond = sum(size >= guess for size, peak in seen.items() if peak is not None)
        size = low + max(1, int(tolerance * low)) * 2 ** (beyond - 1)
        size = size if size < high else middle
    elif guess >= high:  # sizes at or below the guess failed: one step back, then the middle
        missed = sum(size <= guess for size, peak in seen.items() if peak is None)
        step = max(1, int(tolerance * high / (1 + tolerance)))  # if high - step fits, the search is over
        size = high - step if missed == 1 else middle
    else:
        size = guess
    return min(max(size, low + 1), high - 1, max(FARTHER * low, low + 1))


def size_by_curve(seen: Mapping[int, float | None], low: int, axis: str, limit_bytes: float | None) -> int | None:
    """Returns the largest size that fits by the curve through the peaks; None without a curve or a limit."""
    peaks = {size: peak for size, peak in seen.items() if peak is not None}
    drawn = curve({size: peak for size, peak in peaks.items() if size * NEAR >= low}, axis) or curve(peaks, axis)
    return drawn.largest(limit_bytes) if drawn and limit_bytes else None
