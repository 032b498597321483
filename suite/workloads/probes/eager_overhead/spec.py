"""eager_overhead: what does one operation cost, when the array is so small that its arithmetic costs nothing?

A chain of additions and subtractions in turns, each of an array and the last result: run op by op by the eager stacks,
as one function by those that compile. In turns, because TensorFlow makes one sum of additions alone; no compiler here
leaves one of these out. XLA and Inductor make one loop of them all, or a few: there an operation costs next to nothing,
and the first call is what is paid.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

TITLE = "The cost of an operation"
SIZES = {"tiny": {"n": 64, "ops": 100}, "quick": {"n": 64, "ops": 1000}}
PASSES = ("forward",)

ASPECTS = {"chain": "a chain of additions and subtractions of small arrays"}
FIGURES = {
    "seconds": ("s", "the whole chain, until its result is computed"),
    "per_op": ("s", "a chain's median by its operations"),
    "ops": ("count", "operations in the chain"),
    "first_seconds": ("s", "the first call, with all that is traced and compiled in it"),
}
CLASSES = {"measured": "figures alone: what an operation costs knows no sharp limits"}


def classify(aspect: str, figures: Mapping[str, Any]) -> str:
    """There is one class."""
    return "measured"
