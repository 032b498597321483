"""Tensors too large to keep, as a few figures that tell how far two of them are apart; and that distance itself.

A digest has a tensor's norm, its largest magnitude, and sums of its elements with fixed signs in fixed random places.
Such sums are linear, and the norm of their difference estimates the norm of the tensors' difference
(Charikar, Chen, Farach-Colton 2002, "Finding frequent items in data streams"), so that whole tensors and digests are
held to the same measure.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
SUMS = 32  # a power of two; they tell the norm of a difference within an eighth: 1/sqrt(2 SUMS)
CHUNK = 1 << 20  # elements at a time


@dataclass(frozen=True, slots=True)
class Digest:
    """Frobenius norm, largest magnitude, and signed sums of a tensor."""

    norm: float
    peak: float
    sums: tuple[float, ...]

    @property
    def figures(self) -> list[float]:
        """As they are stored."""
        return [self.norm, self.peak, *self.sums]


def from_figures(figures: Sequence[float]) -> Digest:
    """The inverse of `Digest.figures`. Raises ValueError for another number of them."""
    if len(figures) != 2 + SUMS:
        raise ValueError(f"a digest has {2 + SUMS} figures, this one {len(figures)}")
    norm, peak, *sums = map(float, figures)
    return Digest(norm, peak, tuple(sums))


def digest(value: Array, name: str) -> Digest:
    """A tensor's digest; signs and places depend on its name and size alone."""
    flat = np.asarray(value).reshape(-1)
    key = hashlib.sha256(f"signs/{name}".encode()).digest()[:16]
    words = np.random.Philox(key=np.frombuffer(key, dtype="<u8"))
    squares, largest, sums = 0.0, 0.0, np.zeros(SUMS)
    for start in range(0, flat.size, CHUNK):
        part = flat[start : start + CHUNK].astype(np.float64)
        # A random byte an element: its top bit is the sign, its lowest bits are the sum that the element goes to.
        drawn = words.random_raw(-(-part.size // 8)).astype("<u8").view(np.uint8)[: part.size]
        squares += float(part @ part)
        largest = float(np.maximum(largest, np.abs(part).max(initial=0.0)))  # NaN stays
        sums += np.bincount(drawn & (SUMS - 1), np.where(drawn & 128, part, -part), SUMS)
    return Digest(math.sqrt(squares), largest, tuple(float(each) for each in sums))


@dataclass(frozen=True, slots=True)
class Difference:
    """How far a tensor a is from what it should be, r: ||a - r|| / ||r|| and ||a|| / ||r||. Of a zero r, absolute."""

    error: float
    norm: float

    @property
    def cosine(self) -> float:
        """Of the angle between them; 0 for a tensor of zeros."""
        return (1.0 + self.norm**2 - self.error**2) / (2.0 * self.norm) if self.norm else 0.0


def difference(actual: Array | Digest, wanted: Array | Digest, name: str, rounding: float = 0.0) -> Difference:
    """Between two tensors of the same shape, or their digests. `rounding`: a distance that is no difference yet."""
    if isinstance(actual, Digest) or isinstance(wanted, Digest):
        ours, theirs = (each if isinstance(each, Digest) else digest(each, name) for each in (actual, wanted))
        estimate = np.linalg.norm(np.subtract(ours.sums, theirs.sums))
        apart, length, scale = float(np.maximum(estimate, abs(ours.norm - theirs.norm))), ours.norm, theirs.norm
    else:
        a, r = np.asarray(actual, np.float64).ravel(), np.asarray(wanted, np.float64).ravel()
        apart, length, scale = (float(np.linalg.norm(each)) for each in (a - r, a, r))
    apart = float(np.maximum(apart - rounding, 0.0))
    return Difference(apart / (scale or 1.0), length / (scale or 1.0))
