"""What a case is compared with, and how far a right one may be from it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from suite import protocol
from suite.reference.digests import Array, difference
from suite.reference.expected import ReferenceAnswer, peak
from suite.reference.findings import GateFindings
from suite.reference.tolerances import BY, Tolerance, Tolerances
from suite.stacks.base import Adapter
from suite.worker.data import Data
from suite.worker.equivalence.late_step import LateStep
from suite.worker.equivalence.witness import Witness

JUMPS, JUMP_MAX = 4.0, 0.2  # times a jump of the right gradient, and the largest error that it forgives
# Of what follows several steps: batch norms over a batch of two, as in RegNet, move the right weights by a third of
# their way where a rounding is added. What stays where it is, or goes the other way, is off by 1 or more.
JUMP_MAX_LATER = 0.9
# Of a small model with batch norms, whose gradients nearly cancel, one activation of 500,000 at a ReLU's kink changes a
# gradient by 2e-3, and only every second draw has one.
DRAWS = 8


@dataclass
class TimedEvidence:
    """What the timed calls left for the gate: the losses of the first steps, the last result, the state after three
    steps (`witness`), and one more step after the clocks (`late`)."""

    losses: list[float] = field(default_factory=list)
    result: Any = None  # the loss, or a tree of outputs
    witness: Witness | None = None
    late: LateStep | None = None
    types: dict[str, str] = field(default_factory=dict)  # of the last result's leaves
    alone: Callable[[], AbstractContextManager[None]] = nullcontext  # runs steps while no other process runs


class Comparison:
    """One stack beside the reference. `expected` is the reference's answer; None without one."""

    def __init__(self, adapter: Adapter, data: Data, expected: ReferenceAnswer | None) -> None:
        self.adapter, self.data, self.expected = adapter, data, expected
        exact = expected is not None and expected.exact
        self.tolerances = Tolerances(adapter.workload.spec, adapter.case.precision, exact, adapter.types)
        self.findings = GateFindings(self.tolerances, compared=expected is not None)
        # Masks of small tensors' elements whose gradient is only noise: by the reference, or else by this stack.
        self.noise: dict[str, Any] = dict(expected.noise) if expected else {}
        self.shaken: list[ReferenceAnswer] = []  # the answers of the draws that were needed

    @property
    def asks_decay(self) -> bool:
        """Whether weight decay can be checked after three steps. In coarser precisions it can't: where rounding turns a
        gradient's sign, AdamW moves the parameter by more than the decay."""
        return self.adapter.optimizer in protocol.ADAMW and self.adapter.case.precision == "f32"

    def of_optimizer(self, key: str) -> str:
        """Returns the key of a tensor that the optimizer has changed: with the optimizer's name if it isn't the spec's,
        since stacks with different optimizers can't agree on it."""
        own = self.adapter.optimizer == self.data.spec.OPTIMIZER
        return key if own else f"{key}{BY}{self.adapter.optimizer}"

    def wanted(self, group: str, name: str | int) -> Any:
        """Returns the reference of a gradient or movement, or of a step's loss; None without one."""
        return None if self.expected is None else of_group(self.expected, group, name)

    def with_jumps(self, group: str, name: str | int, actual: Array, limit: Tolerance) -> Tolerance:
        """Returns the limit of a gradient, movement or loss, wider where the right one jumps within the rounding of
        float32: where a model's activations are near a kink, as of a ReLU, parameters that are off by a rounding have
        another gradient, and steps that follow it another loss."""
        wanted, what = self.wanted(group, name), f"{group}/{name}"
        if not hasattr(self.data.spec, "exact") or wanted is None or np.shape(actual) != np.shape(wanted):
            return limit
        apart = difference(actual, wanted, what)
        for draw in range(DRAWS):
            if not limit.broken(apart):
                break
            times = 2.0 ** (draw // 3)  # later draws shake by more, and their jumps count for less
            if draw == len(self.shaken) or not getattr(self.shaken[draw], group):
                self.shaken[draw : draw + 1] = [self.data.shaken(draw, times, further=group == "curve")]
            jump = difference(of_group(self.shaken[draw], group, name), wanted, what).error
            most = JUMP_MAX_LATER if group in ("moved", "curve") else JUMP_MAX
            limit = Tolerance(max(limit.error, min(JUMPS / times * jump, most)))
        return limit

    def is_zero(self, name: str) -> bool:
        """Whether a parameter's true gradient is zero everywhere."""
        if self.expected is None or name not in self.expected.gradients:
            return False
        return peak(self.expected.gradients[name]) < protocol.ZERO_GRADIENT * self.expected.largest_gradient


def of_group(answer: ReferenceAnswer, group: str, name: str | int) -> Any:
    """Returns what an answer has of a group by name, or by the number of a step; None if it hasn't."""
    found = getattr(answer, group)
    return np.asarray(found[name]) if isinstance(name, int) else found.get(name)
