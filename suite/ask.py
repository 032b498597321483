"""What a question file's `inputs` returns: tensors, with their shape first. docs/how-to/ask.md shows them in use.

The values are the same bits in every environment, in the type that is declared.
"""

from __future__ import annotations

import sys
from pathlib import Path

from suite.workloads.tensors import (
    Ascending,
    Constant,
    Integers,
    Normal,
    Permutation,
    PositiveDefinite,
    Stored,
    Tensor,
    Uniform,
)

__all__ = [
    "ascending", "constant", "from_file", "integers", "lengths", "normal", "permutation", "spd", "uniform"
]  # fmt: skip


def normal(*shape: int, mean: float = 0.0, sigma: float = 1.0, dtype: str = "float32") -> Tensor:
    """Normally distributed values; of complex ones, both parts are."""
    return Normal(shape, sigma, mean, fine=True, dtype=dtype)


def uniform(*shape: int, low: float = 0.0, high: float = 1.0, dtype: str = "float32") -> Tensor:
    """Values spread evenly from `low` up to `high`."""
    return Uniform(shape, low, high, dtype=dtype)


def integers(*shape: int, high: int, low: int = 0, dtype: str = "int32") -> Tensor:
    """Whole numbers from `low` to `high` - 1; with dtype="bool" and high=2, truth values."""
    return Integers(shape, high, low, dtype=dtype)


def lengths(count: int, longest: int, dtype: str = "int32") -> Tensor:
    """`count` lengths of sequences, from 1 to `longest`."""
    return Integers((count,), longest + 1, 1, dtype=dtype)


def permutation(*shape: int, dtype: str = "int32") -> Tensor:
    """The whole numbers from 0 on in random order, along the last axis."""
    return Permutation(shape, dtype=dtype)


def ascending(*shape: int, step: float = 1.0, dtype: str = "float32") -> Tensor:
    """0, step, 2 step, … along the last axis."""
    return Ascending(shape, step, dtype=dtype)


def spd(*shape: int, condition: float = 100.0, dtype: str = "float32") -> Tensor:
    """Symmetric positive definite matrices with this condition: spd(n) is one, spd(batch, n) are many."""
    return PositiveDefinite((*shape, shape[-1]), condition, dtype=dtype)


def constant(*shape: int, value: float = 0.0, dtype: str = "float32") -> Tensor:
    """One value everywhere."""
    return Constant(shape, value, dtype=dtype)


def from_file(path: str | Path, dtype: str | None = None) -> Tensor:
    """The array of a .npy file, in its own type unless another is declared. The path is relative to the question
    file's folder."""
    import numpy as np

    place = (Path(sys._getframe(1).f_globals["__file__"]).parent / path).resolve()
    array = np.load(place, mmap_mode="r", allow_pickle=False)
    return Stored(array.shape, place, dtype=dtype or str(array.dtype))
