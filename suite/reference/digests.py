"""Digests: a few figures that stand for a tensor too large to store. Also the distance between two tensors or digests.

A digest here isn't a hash. It has the tensor's norm, its largest magnitude, and `SUMS` sums. Each element is added to
one of the sums with a sign. Sum and sign are random, but always the same for the tensor's name and the element's index.
Because the sums are linear, the norm of the difference between two digests' sums estimates the norm of the difference
between the two tensors (Charikar, Chen, Farach-Colton 2002, "Finding frequent items in data streams"). So the relative
error between two tensors is computed from the tensors, or estimated from their digests.
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
SUMS = 32  # a power of two, for a bit mask; the estimated norm is off by about 1/sqrt(2 SUMS), an eighth
CHUNK = 1 << 20  # elements at a time


@dataclass(frozen=True, slots=True)
class Digest:
    """Frobenius norm, largest magnitude, and signed sums of a tensor."""

    norm: float
    peak: float
    sums: tuple[float, ...]

    @property
    def figures(self) -> list[float]:
        """Returns the digest as a flat list, as it is stored."""
        return [self.norm, self.peak, *self.sums]


def from_figures(figures: Sequence[float]) -> Digest:
    """Returns the digest from a list of its `figures`. Raises ValueError for a list of another length."""
    if len(figures) != 2 + SUMS:
        raise ValueError(f"a digest has {2 + SUMS} figures, this one {len(figures)}")
    norm, peak, *sums = map(float, figures)
    return Digest(norm, peak, tuple(sums))


def digest(value: Array, name: str) -> Digest:
    """Returns a tensor's digest. An element's sign and sum depend only on the tensor's name and the element's index."""
    flat = np.asarray(value).reshape(-1)
    key = hashlib.sha256(f"signs/{name}".encode()).digest()[:16]
    generator = np.random.Philox(key=np.frombuffer(key, dtype="<u8"))
    squares, largest, sums = 0.0, 0.0, np.zeros(SUMS)
    for start in range(0, flat.size, CHUNK):
        part = flat[start : start + CHUNK].astype(np.float64)
        # A random byte an element: its top bit is the sign, its lowest bits are the sum that the element goes to.
        drawn = generator.random_raw(-(-part.size // 8)).astype("<u8").view(np.uint8)[: part.size]
        squares += float(part @ part)
        largest = float(np.maximum(largest, np.abs(part).max(initial=0.0)))  # NaN stays
        sums += np.bincount(drawn & (SUMS - 1), np.where(drawn & 128, part, -part), SUMS)
    return Digest(math.sqrt(squares), largest, tuple(map(float, sums)))


@dataclass(frozen=True, slots=True)
class Difference:
    """How far a tensor a is from r, which is the same tensor from the reference or from another process. `error` is
    ||a - r|| / ||r||, and `norm` is ||a|| / ||r||. If r is zero, they are ||a - r|| and ||a||."""

    error: float
    norm: float

    @property
    def cosine(self) -> float:
        """Returns the cosine of the angle between a and r; 0 if a is zero."""
        return (1.0 + self.norm**2 - self.error**2) / (2.0 * self.norm) if self.norm else 0.0


def difference(actual: Array | Digest, wanted: Array | Digest, name: str, rounding: float = 0.0) -> Difference:
    """Returns the difference between two tensors of the same shape, or between their digests. The distance is lowered
    by `rounding`, since rounding alone explains that much."""
    if isinstance(actual, Digest) or isinstance(wanted, Digest):
        ours, theirs = (tensor if isinstance(tensor, Digest) else digest(tensor, name) for tensor in (actual, wanted))
        estimate = np.linalg.norm(np.subtract(ours.sums, theirs.sums))
        apart, length, scale = float(np.maximum(estimate, abs(ours.norm - theirs.norm))), ours.norm, theirs.norm
    else:
        a, r = np.asarray(actual, np.float64).ravel(), np.asarray(wanted, np.float64).ravel()
        apart, length, scale = (float(np.linalg.norm(vector)) for vector in (a - r, a, r))
    apart = float(np.maximum(apart - rounding, 0.0))
    return Difference(apart / (scale or 1.0), length / (scale or 1.0))
