"""What the judge draws for each judgement: shapes around a question's, values, and which calls it checks. Nobody can
know them before: the generator's seed is the kernel's."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from suite.workloads.tensors import (
    Integers,
    Normal,
    Permutation,
    PositiveDefinite,
    Tensor,
    Uniform,
    generate,
    rounded_to_bfloat16,
    stored_as,
)

DRAWN = Normal | Uniform | Integers | Permutation | PositiveDefinite  # other values are the same in each call
GRAIN_MAX = 64  # a drawn length keeps the powers of two of the question's, up to this: kernels have their vectors
EXPONENTS = (-4, 2, 5, 5)  # of two, by which strange values are larger: at 32 deviations exponentials overflow
REAL = ("float64", "float32", "bfloat16", "float16")
RANDOM = np.random.Generator(np.random.PCG64(secrets.randbits(128)))


def near(dims: Mapping[str, int], names: Iterable[str]) -> dict[str, int]:
    """Returns dims whose calls are timed: those of `names` are up to a quarter larger or smaller."""
    found = dict(dims)
    for name in names:
        grain = min(dims[name] & -dims[name], GRAIN_MAX)
        least, most = -(-3 * dims[name] // (4 * grain)), 5 * dims[name] // (4 * grain)
        found[name] = grain * int(RANDOM.integers(max(1, least), max(1, least, most) + 1))
    return found


def smaller(dims: Mapping[str, int], names: Sequence[str]) -> dict[str, int]:
    """Returns dims whose calls are only checked: those of `names` are at most half as large, odd or even."""
    drawn = {name: int(RANDOM.integers(max(1, dims[name] // 8), dims[name] // 2 + 2)) for name in names}
    return {**dims, **{name: min(dims[name], length) for name, length in drawn.items()}}


def values(tensors: Mapping[str, Tensor], *, strange: bool = False) -> dict[str, NDArray[Any]]:
    """Returns the values of one call, in the types that `stored_as` says. `strange`: of another size, and off zero."""
    scale, shift = (2.0 ** RANDOM.choice(EXPONENTS), RANDOM.integers(-2, 3)) if strange else (1.0, 0.0)
    found = {}
    for name, tensor in tensors.items():
        if isinstance(tensor, Normal) and tensor.dtype in REAL:
            found[name] = normal(replace(tensor, sigma=tensor.sigma * scale, mean=tensor.mean + shift * tensor.sigma))
        else:
            found[name] = generate(tensor, name, int(RANDOM.integers(2**62)))
    return found


def normal(tensor: Normal) -> NDArray[Any]:
    """Returns normal values by NumPy's generator, four times as fast as ours: no other environment must have these."""
    drawn: Any = RANDOM.standard_normal(tensor.shape, np.float64 if tensor.dtype == "float64" else np.float32)
    drawn *= tensor.sigma
    drawn += tensor.mean
    found: NDArray[Any] = rounded_to_bfloat16(drawn) if tensor.dtype == "bfloat16" else drawn
    return found.astype(stored_as(tensor.dtype), copy=False)


def as_bytes(tensor: Tensor, held: NDArray[Any]) -> bytes:
    """Returns values as a framework has them in memory."""
    return ((held.view(np.uint32) >> 16).astype(np.uint16) if tensor.dtype == "bfloat16" else held).tobytes()


T = TypeVar("T")


def shuffled(entries: Sequence[T]) -> list[T]:
    return [entries[place] for place in RANDOM.permutation(len(entries))]


def half(count: int) -> list[int]:
    """Returns which of so many calls are checked: each with probability one half."""
    return [place for place in range(count) if RANDOM.integers(2)]
