"""Finds out which arithmetic a stack really uses, by a product whose exact answer depends on its operands' rounding.

In every other term of the sum both operands are 1 + D; in between, one is -1 and the other 1. So each pair of terms
adds (1 + D)^2 - 1. TF32 keeps 10 bits of the mantissa and turns 1 + D into 1 + 2^-10; bfloat16 keeps 7 bits and turns
1 + D into 1, whether it rounds to nearest or truncates. Rounding of the sums, in any order, adds a thousandth of these
differences.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]

SIDE = 256  # of a matrix: a multiple of every tile that a tensor core takes
D = 1.4375 * 2.0**-10
# D after rounding 1 + D to each format.
ROUNDED = {"f32": D, "tf32": 2.0**-10, "bf16": 0.0}
MARGIN = 0.05  # of f32's answer: a result stored in bfloat16 is off by 0.004, the formats differ by 0.3 and more


def probe_operands() -> tuple[Array, Array]:
    """Returns (a, b), each (SIDE, SIDE) float32. All elements of their product are equal; its value shows in which
    precision a stack multiplies."""
    even = np.arange(SIDE) % 2 == 0
    row = np.where(even, 1.0 + D, -1.0).astype(np.float32)
    column = np.where(even, 1.0 + D, 1.0).astype(np.float32)
    return np.tile(row, (SIDE, 1)), np.tile(column[:, None], (1, SIDE))


def exact(d: float) -> float:
    """Returns an element of the product if the operands' 1 + D has become 1 + d."""
    return SIDE / 2 * ((1.0 + d) ** 2 - 1.0)


def observed(product: NDArray[Any]) -> str:
    """Returns the format (`f32`, `tf32`, `bf16`) whose rounding explains every element; `unknown` if none does."""
    values = np.asarray(product, np.float64)
    for name, d in ROUNDED.items():
        if values.shape == (SIDE, SIDE) and np.all(np.abs(values - exact(d)) <= MARGIN * exact(D)):
            return name
    return "unknown"


def contradictions(declared: str, observed: str) -> list[str]:
    """Returns why a row that declares this arithmetic is wrong; an empty list if it isn't."""
    words = "neither f32 nor tf32 nor bf16" if observed == "unknown" else observed
    return [] if observed == declared else [f"declared {declared}, but a probe product was computed in {words}"]
