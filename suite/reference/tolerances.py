"""Says how far a correct stack may be from the reference. That depends on the precision, on the tensor, and on whether
tensors or their digests are compared.

docs/why/method.md has the reasons, and the errors that correct stacks reach. A relative error of at most t implies a
cosine of at least 1 - t^2/2, and a norm that is right within t. So cosine and norm have limits of their own only where
the error has none.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from suite import protocol
from suite.reference.digests import Difference

BY = " by "  # in a digest's key before an optimizer that isn't the spec's
FORM = " of "  # in a digest's key between a question's result and its form, `whole (3, 4)`


@dataclass(frozen=True, slots=True)
class Tolerance:
    """The limits for a tensor: the largest relative error, the least cosine, and the largest relative error of its
    norm."""

    error: float
    cosine: float = -math.inf
    norm: float = math.inf

    def broken(self, difference: Difference) -> str:
        """Returns in words which limit a difference breaks; empty if it breaks none. NaN breaks every limit."""
        if self.error == 0.0 and difference.error > 0.0:
            return "not equal"
        if not difference.error <= self.error:
            return f"relative error {difference.error:.2g} over the tolerance {self.error:.0e}"
        if not difference.cosine >= self.cosine:
            return f"relative error {difference.error:.2g}, cosine {difference.cosine:.2g} under {self.cosine:.2g}"
        if not abs(difference.norm - 1.0) <= self.norm:
            return f"relative error {difference.error:.2g}, norm {difference.norm:.2g} of the right one"
        return ""


@dataclass(frozen=True, slots=True)
class Tolerances:
    """The tolerances of one workload in one precision. `exact`: whole tensors are compared, not digests. `types` are
    the declared types of its tensors by name."""

    spec: Any
    precision: str
    exact: bool = False
    types: Mapping[str, str] = field(default_factory=dict)

    def of(self, key: str) -> Tolerance:
        """Returns the tolerance of a tensor by its key: `gradient/…`, `moved/…` (a parameter's movement), `stressed/…`
        (a result with stressed weights, in f32), or any other key (output, loss, a buffer's movement)."""
        if self.is_asked:
            return self.asked(key)
        groups = {"gradient": self.gradient, "moved": self.moved(), "stressed": Tolerance(protocol.STRESSED_TOLERANCE)}
        return groups.get(key.partition("/")[0], Tolerance(self.plain))

    def asked(self, key: str) -> Tolerance:
        name, _, form = key.partition(FORM)
        if form.startswith(("whole", "true")):
            return Tolerance(0.0)
        if name.startswith("moved/"):
            return self.moved()
        own = self.spec.ASKED_TOLERANCE
        if isinstance(own, Mapping):
            own = own.get(name.removeprefix("output/"))
        return Tolerance(self.plain if own is None else own)

    @property
    def is_asked(self) -> bool:
        return hasattr(self.spec, "ASKED_TOLERANCE")

    @property
    def plain(self) -> float:
        """Returns the largest relative error of outputs, losses and buffers' movements."""
        if self.is_asked:
            if isinstance(self.spec.ASKED_TOLERANCE, float | int):
                return float(self.spec.ASKED_TOLERANCE)
            kinds = [protocol.TYPE_TOLERANCE[kind] for kind in self.types.values() if kind in protocol.TYPE_TOLERANCE]
            coarse = [] if self.precision == "f32" else [protocol.TOLERANCE[self.precision]]
            coarse += (
                [protocol.DIGEST_TOLERANCE["f32"]] if getattr(self.spec, "HAS_MODEL", False) else []
            )  # the errors of many operations
            return max([*kinds, *coarse], default=protocol.TYPE_TOLERANCE["float32"])
        own: Mapping[str, float] = getattr(self.spec, "TOLERANCE", {})
        if self.precision in own:
            return float(own[self.precision])
        if hasattr(self.spec, "reference"):
            return protocol.TOLERANCE[self.precision]
        return (protocol.MODEL_TOLERANCE if self.exact else protocol.DIGEST_TOLERANCE)[self.precision]

    @property
    def late(self) -> Tolerance:
        """Returns the tolerance of the additional step after all timed steps. What this step adds to parameters and
        moments is compared with what the reference's optimizer adds for the stack's own gradients."""
        if self.precision == "f32":
            jumps = "f32" in getattr(self.spec, "GRADIENT_TOLERANCE", {})
            return Tolerance(protocol.LATE_TOLERANCE_OF_JUMPS if jumps else protocol.LATE_TOLERANCE)
        gradient = self.gradient
        return Tolerance(2.0 * gradient.error, gradient.cosine, gradient.norm)

    @property
    def late_loss(self) -> float:
        """Returns the largest relative error of the loss of that additional step. It is compared with the loss that
        `Adapter.read` computes from the parameters before the step."""
        return max(self.plain, protocol.LATE_LOSS_TOLERANCE)

    @property
    def gradient(self) -> Tolerance:
        """Returns the tolerance of a gradient: the one that the spec declares, else that of outputs. For whole tensors
        in f32 it is always that of outputs, unless the spec declares limits of the direction."""
        errors: Mapping[str, float] = getattr(self.spec, "GRADIENT_TOLERANCE", {})
        directions: Mapping[str, tuple[float, float]] = getattr(self.spec, "GRADIENT_DIRECTION", {})
        if self.precision in directions:
            return Tolerance(math.inf, *directions[self.precision])
        if self.exact and self.precision == "f32":
            return Tolerance(self.plain)
        return Tolerance(errors.get(self.precision, self.plain))

    def moved(self, size: float = math.inf) -> Tolerance:
        """Returns the tolerance of the movement of a parameter with so many elements.

        SGD's movement is linear in the gradients, so it has their tolerance. AdamW moves an element by lr in the other
        direction if an error changes its gradient's sign. If gradients are normally distributed, an error of t changes
        about a share t of the signs; in coarser precisions, at least one of a tensor. Each change moves an element by
        2 lr, so the movement's error is 2 sqrt(t). A file's own optimizer may be such a one.
        """
        if self.spec.OPTIMIZER in (None, "sgd"):
            return self.gradient
        # In whole tensors, the elements whose gradient is small enough to change its sign are known and left out.
        if self.exact and self.precision == "f32":
            return Tolerance(protocol.MOVEMENT_TOLERANCE)
        share = self.gradient.error
        if self.precision == "f32":
            return Tolerance(2.0 * math.sqrt(share))
        one = min(2.0 / math.sqrt(size), protocol.MOVED_TOLERANCE_MAX)
        return Tolerance(max(2.0 * math.sqrt(share), one))
