"""How far a correct stack may be from what it should give: by precision, by tensor, by what it is held to.

docs/methodology.md has the reasons, and the figures that correct stacks reach. An error of at most t means a cosine
of at least 1 - t^2/2 and a norm within t of the right one, so these are asked for alone where no error can be.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from suite import protocol
from suite.reference.digests import Difference


@dataclass(frozen=True, slots=True)
class Limit:
    """What is asked of a tensor: largest relative error, least cosine, largest deviation of its norm from the right."""

    error: float
    cosine: float = -math.inf
    norm: float = math.inf

    def broken(self, found: Difference) -> str:
        """What a difference breaks, in words; empty if nothing. NaN breaks everything."""
        if not found.error <= self.error:
            return f"relative error {found.error:.2g} over the tolerance {self.error:.0e}"
        if not found.cosine >= self.cosine:
            return f"relative error {found.error:.2g}, cosine {found.cosine:.2g} under {self.cosine:.2g}"
        if not abs(found.norm - 1.0) <= self.norm:
            return f"relative error {found.error:.2g}, norm {found.norm:.2g} of the right one"
        return ""


@dataclass(frozen=True, slots=True)
class Tolerances:
    """Of one workload in one precision; `exact` where whole tensors are compared."""

    spec: Any
    precision: str
    exact: bool = False

    def of(self, key: str) -> Limit:
        """By what a tensor is: `gradient/...`, `moved/...` (a parameter's), or output, loss, a buffer's movement."""
        groups = {"gradient": self.gradient, "moved": self.moved}
        return groups.get(key.partition("/")[0], Limit(self.plain))

    @property
    def plain(self) -> float:
        """Largest relative error of outputs and losses."""
        if hasattr(self.spec, "reference"):
            return protocol.TOLERANCE[self.precision]
        return (protocol.MODEL_TOLERANCE if self.exact else protocol.DIGEST_TOLERANCE)[self.precision]

    @property
    def gradient(self) -> Limit:
        """As outputs, unless the spec says that it can't be. In f32 small sizes know no exception."""
        errors: Mapping[str, float] = getattr(self.spec, "GRADIENT_TOLERANCE", {})
        directions: Mapping[str, tuple[float, float]] = getattr(self.spec, "GRADIENT_DIRECTION", {})
        if self.precision in directions:
            return Limit(math.inf, *directions[self.precision])
        if self.exact and self.precision == "f32":
            return Limit(self.plain)
        return Limit(errors.get(self.precision, self.plain))

    @property
    def moved(self) -> Limit:
        """A parameter's movement: SGD's is linear in the gradients; AdamW's takes the whole step of lr in another
        direction where an error of the gradient changes its sign. Of normally distributed gradients an error of t
        turns a part of about t: 2 lr for each, so 2 sqrt(t) of the movement."""
        if self.spec.OPTIMIZER != "adamw":
            return self.gradient
        # Of whole tensors, elements whose gradient is small enough to turn are known and left out.
        if self.exact and self.precision == "f32":
            return Limit(protocol.MOVEMENT_TOLERANCE)
        return Limit(2.0 * math.sqrt(self.gradient.error))
