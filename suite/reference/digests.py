"""Digests: a few figures that stand for a tensor too large to store. Also the distance between two tensors or digests.

A digest here isn't a hash. It has the tensor's norm, its largest magnitude, and `SUMS` sums. Each element is added to
one of the sums with a sign. Sum and sign are random, but always the same for the tensor's name and the element's index.
Because the sums are linear, the norm of the difference between two digests' sums estimates the norm of the difference
between the two tensors (Charikar, Chen, Farach-Colton 2002, "Finding frequent items in data streams"). So the relative
error between two tensors is computed from the tensors, or estimated from their digests.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suite.workloads.tensors import random_words

Array = NDArray[Any]
SUMS = 32  # a power of two, for a bit mask; the estimated norm is off by about 1/sqrt(2 SUMS), an eighth
CHUNK = 1 << 20  # elements at a time


@dataclass(frozen=True, slots=True)
class Digest:
    """Frobenius norm, largest magnitude, and signed sums of a tensor. The largest magnitude is NaN if a value is NaN or
    infinite; norm and sums then have other numbers in place of these (see `finite`)."""

    norm: float
    peak: float
    sums: tuple[float, ...]

    @property
    def figures(self) -> list[float]:
        return [self.norm, self.peak, *self.sums]


def from_figures(figures: Sequence[float]) -> Digest:
    if len(figures) != 2 + SUMS:
        raise ValueError(f"a digest has {2 + SUMS} figures, this one {len(figures)}")
    norm, peak, *sums = map(float, figures)
    return Digest(norm, peak, tuple(sums))


def digest(value: Array, name: str) -> Digest:
    """Returns a tensor's digest. An element's sign and sum depend only on the tensor's name and the element's index."""
    flat, largest = finite(np.asarray(value)).reshape(-1), 0.0
    if flat.dtype.kind == "f" and not np.isfinite(value).all():
        largest = math.nan
    generator = random_words(f"signs/{name}")
    squares, sums = 0.0, np.zeros(SUMS)
    for start in range(0, flat.size, CHUNK):
        part = flat[start : start + CHUNK].astype(np.float64)
        # A random byte an element: its top bit is the sign, its lowest bits are the sum that the element goes to.
        drawn = generator.random_raw(-(-part.size // 8)).astype("<u8").view(np.uint8)[: part.size]
        squares += float(part @ part)
        largest = float(np.maximum(largest, np.abs(part).max(initial=0.0)))  # NaN stays
        sums += np.bincount(drawn & (SUMS - 1), np.where(drawn & 128, part, -part), SUMS)
    return Digest(math.sqrt(squares), largest, tuple(map(float, sums)))


def finite(value: Array) -> Array:
    """Returns real, finite numbers that differ where the values do: a complex one as its two parts, and NaN and
    infinities as multiples of the largest finite magnitude."""
    if value.dtype.kind == "c":
        value = np.ascontiguousarray(value).reshape(-1).view(value.real.dtype)
    if value.dtype.kind != "f" or np.isfinite(value).all():
        return value
    value = value.astype(np.float64)
    odd = ~np.isfinite(value)
    scale = float(np.abs(np.where(odd, 0.0, value)).max(initial=0.0)) or 1.0
    return np.where(odd, np.where(np.isnan(value), 3.0, 2.0 * np.sign(value)) * scale, value)


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
        if math.isnan(ours.peak) != math.isnan(theirs.peak):
            apart = math.inf
    else:
        a, r = equal_where_odd(np.asarray(actual), np.asarray(wanted))
        apart, length, scale = (float(np.linalg.norm(vector)) for vector in (a - r, a, r))
    apart = float(np.maximum(apart - rounding, 0.0))
    return Difference(apart / (scale or 1.0), length / (scale or 1.0))


def equal_where_odd(actual: Array, wanted: Array) -> tuple[Array, Array]:
    """Returns both tensors flat, in float64 or complex128. Where both are NaN, or the same infinity, both become 0, so
    that they are equal."""
    exact = np.complex128 if "c" in (actual.dtype.kind, wanted.dtype.kind) else np.float64
    a, r = actual.astype(exact).ravel(), wanted.astype(exact).ravel()
    if not np.isfinite(r).all():
        same = (a == r) | (np.isnan(a) & np.isnan(r))
        same &= ~np.isfinite(r)
        a[same] = r[same] = 0.0
    return a, r
