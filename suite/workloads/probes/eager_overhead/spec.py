"""eager_overhead: what does one operation cost, when the array is so small that its arithmetic costs nothing?

The probe runs a chain in which additions and subtractions alternate, each of an array and the last result: op by op on
eager stacks, as one function on stacks that compile. They alternate because TensorFlow merges a chain of additions
alone into one sum; of this chain no compiler here removes an operation. XLA and Inductor make one loop, or a few, of
the whole chain: there an operation costs next to nothing, and the cost is in the first call.
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
    "per_op": ("s", "the chain's median, divided by the number of its operations"),
    "ops": ("count", "operations in the chain"),
    "first_seconds": ("s", "the first call, with all that is traced and compiled in it"),
}
CLASSES = {"measured": "not classified, because the cost of an operation has no sharp limits; see the figures"}


def classify(aspect: str, figures: Mapping[str, Any]) -> str:
    """Returns the only class."""
    return "measured"
