"""Which arithmetic does a stack really use? A product whose exact answer depends on how its operands were rounded.

Both operands hold 1 + D in every other place of the sum, and -1 and 1 between, so that (1 + D)^2 - 1 is left. TF32
keeps 10 bits of a mantissa and makes 1 + 2^-10 of 1 + D, bfloat16 keeps 7 and makes 1 of it, rounding to nearest or
truncating. What rounding the sums adds, in any order, is a thousandth of the difference.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]

SIDE = 256  # of a matrix: a multiple of every tile that a tensor core takes
D = 1.4375 * 2.0**-10
# What each format makes of D.
ROUNDED = {"f32": D, "tf32": 2.0**-10, "bf16": 0.0}
MARGIN = 0.05  # of f32's answer: a result stored in bfloat16 is off by 0.004, the formats differ by 0.3 and more


def probe_operands() -> tuple[Array, Array]:
    """(a, b), each (SIDE, SIDE) float32. Their product is the same number everywhere."""
    even = np.arange(SIDE) % 2 == 0
    row = np.where(even, 1.0 + D, -1.0).astype(np.float32)
    column = np.where(even, 1.0 + D, 1.0).astype(np.float32)
    return np.tile(row, (SIDE, 1)), np.tile(column[:, None], (1, SIDE))


def exact(d: float) -> float:
    """An element of the product, where the operands' 1 + D has become 1 + d."""
    return SIDE / 2 * ((1.0 + d) ** 2 - 1.0)


def observed(product: NDArray[Any]) -> str:
    """`f32`, `tf32` or `bf16`: the operands' rounding that explains every element; `unknown` if none does."""
    values = np.asarray(product, np.float64)
    for name, d in ROUNDED.items():
        if values.shape == (SIDE, SIDE) and np.all(np.abs(values - exact(d)) <= MARGIN * exact(D)):
            return name
    return "unknown"


def contradictions(declared: str, observed: str) -> list[str]:
    """Why a row that declares this arithmetic can't stand; empty if it can."""
    words = "neither f32 nor tf32 nor bf16" if observed == "unknown" else observed
    return [] if observed == declared else [f"declared {declared}, but a probe product was computed in {words}"]
