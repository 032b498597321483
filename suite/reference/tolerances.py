"""How far a correct stack may be from the reference, by precision, by tensor, and by whether tensors or digests of them
are compared.

docs/methodology.md has the reasons, and the errors that correct stacks reach. A relative error of at most t implies a
cosine of at least 1 - t^2/2 and a norm within t of the right one; so cosine and norm have limits of their own only
where the error has none.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from suite import protocol
from suite.reference.digests import Difference


@dataclass(frozen=True, slots=True)
class Tolerance:
    """The limits for a tensor: largest relative error, least cosine, largest relative deviation of its norm."""

    error: float
    cosine: float = -math.inf
    norm: float = math.inf

    def broken(self, difference: Difference) -> str:
        """Returns in words which limit a difference breaks; an empty text if it breaks none. NaN breaks every limit."""
        if not difference.error <= self.error:
            return f"relative error {difference.error:.2g} over the tolerance {self.error:.0e}"
        if not difference.cosine >= self.cosine:
            return f"relative error {difference.error:.2g}, cosine {difference.cosine:.2g} under {self.cosine:.2g}"
        if not abs(difference.norm - 1.0) <= self.norm:
            return f"relative error {difference.error:.2g}, norm {difference.norm:.2g} of the right one"
        return ""


@dataclass(frozen=True, slots=True)
class Tolerances:
    """The tolerances of one workload in one precision; `exact` where whole tensors are compared, not digests."""

    spec: Any
    precision: str
    exact: bool = False

    def of(self, key: str) -> Tolerance:
        """Returns the tolerance of a tensor by its key: `gradient/…`, `moved/…` (a parameter's movement), `stressed/…`
        (what stressed weights give, in f32), or any other (output, loss, a buffer's movement)."""
        groups = {"gradient": self.gradient, "moved": self.moved, "stressed": Tolerance(protocol.STRESSED_TOLERANCE)}
        return groups.get(key.partition("/")[0], Tolerance(self.plain))

    @property
    def plain(self) -> float:
        """Returns the largest relative error of outputs, losses and buffers' movements."""
        if hasattr(self.spec, "reference"):
            return protocol.TOLERANCE[self.precision]
        return (protocol.MODEL_TOLERANCE if self.exact else protocol.DIGEST_TOLERANCE)[self.precision]

    @property
    def late(self) -> Tolerance:
        """Returns the tolerance for the step after the clocks: for what it adds to parameters and moments, compared
        with what the reference's optimizer adds with the stack's own gradients."""
        if self.precision == "f32":
            jumps = "f32" in getattr(self.spec, "GRADIENT_TOLERANCE", {})
            return Tolerance(protocol.LATE_TOLERANCE_OF_JUMPS if jumps else protocol.LATE_TOLERANCE)
        gradient = self.gradient
        return Tolerance(2.0 * gradient.error, gradient.cosine, gradient.norm)

    @property
    def late_loss(self) -> float:
        """Returns the largest relative error of the same step's loss, compared with the loss that `Adapter.read`
        computes from the parameters before the step."""
        return max(self.plain, protocol.LATE_LOSS_TOLERANCE)

    @property
    def gradient(self) -> Tolerance:
        """Returns the tolerance of a gradient: the spec's own, or else that of outputs. For whole tensors in f32 it is
        that of outputs."""
        errors: Mapping[str, float] = getattr(self.spec, "GRADIENT_TOLERANCE", {})
        directions: Mapping[str, tuple[float, float]] = getattr(self.spec, "GRADIENT_DIRECTION", {})
        if self.precision in directions:
            return Tolerance(math.inf, *directions[self.precision])
        if self.exact and self.precision == "f32":
            return Tolerance(self.plain)
        return Tolerance(errors.get(self.precision, self.plain))

    @property
    def moved(self) -> Tolerance:
        """Returns the tolerance of a parameter's movement. SGD's movement is linear in the gradients. AdamW moves an
        element by lr the other way if an error changes its gradient's sign: of normally distributed gradients, an error
        of t changes about a share t of the signs, each by 2 lr, which is an error of 2 sqrt(t) in the movement."""
        if self.spec.OPTIMIZER != "adamw":
            return self.gradient
        # In whole tensors, the elements whose gradient is small enough to change its sign are known and left out.
        if self.exact and self.precision == "f32":
            return Tolerance(protocol.MOVEMENT_TOLERANCE)
        return Tolerance(2.0 * math.sqrt(self.gradient.error))
