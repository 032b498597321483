"""The search for the largest size that fits: by what a curve through the peaks predicts, by doubling, by bisecting."""

from __future__ import annotations

import math
from collections.abc import Mapping

from suite.errors import UserError
from suite.results.questions.curves import LINEAR, curve, last_size
from suite.workloads.catalog import Workload

NEAR = 4  # times smaller than the largest size that fits: beyond that a size says little about the next
FARTHER = 8  # times the largest size that fits: no further is a curve trusted


def first_size(axis: str, most: int) -> int:
    """Where to begin: with one sample; of a sequence or an image with a small part of what is allowed."""
    return 1 if axis in LINEAR else max(1, most // 64)


def next_size(
    seen: Mapping[int, float | None], limit_bytes: float | None, axis: str, most: int, tolerance: float = 0.0
) -> int | None:
    """The size to try next; None once the largest that fits is known, but for `tolerance`, a share of it.

    `seen` has the peak of each size that fits, None for each that ran out; `most` is the largest that is allowed.
    """
    fits = {size: peak for size, peak in seen.items() if peak is not None}
    low = max(fits, default=0)
    high = min((size for size, peak in seen.items() if peak is None), default=most + 1)
    if low == most or (high <= most and high - low <= max(1, tolerance * low)):
        return None
    if not seen:
        return min(first_size(axis, most), most)
    near = {size: peak for size, peak in fits.items() if size * NEAR >= low}  # small sizes may have another peak
    drawn = curve(near, axis) or curve(fits, axis)
    guess = drawn.largest(limit_bytes) if drawn and limit_bytes else None
    if guess is None:
        asked = 2 * low if high > most else (low + high) // 2
    elif guess <= low:  # what fits goes beyond the curve: a step, then larger ones
        asked = low + max(1, int(tolerance * low)) * 2 ** (sum(size >= guess for size in fits) - 1)
    elif guess >= high:  # or stays behind it: a step, then the middle
        missed = sum(size <= guess for size, peak in seen.items() if peak is None)
        step = max(1, int(tolerance * high / (1 + tolerance)))  # one that fits ends the search
        asked = high - step if missed == 1 else round(math.sqrt(max(low, 1) * high))
    else:
        asked = guess
    return min(max(asked, low + 1), high - 1, max(FARTHER * low, low + 1))


def most_allowed(workload: Workload, dims: Mapping[str, int], axis: str) -> int:
    """The largest size up to `SIZE_MAX` that a workload's own rules allow, where they allow every smaller one."""
    return last_size(lambda size: is_allowed(workload, dims, axis, size))


def is_allowed(workload: Workload, dims: Mapping[str, int], axis: str, size: int) -> bool:
    """Whether the workload takes these dims with such a size."""
    try:
        workload.dims(next(iter(workload.sizes)), dict(dims) | {axis: size})
    except UserError:
        return False
    return True
