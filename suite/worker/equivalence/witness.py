"""The timed state after its third step: read between two batches of samples, judged later by the gate.

The gate replays three steps from fresh weights and compares them with the reference. The timed steps must have led to
the same state, or the replay proves nothing about them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from suite import protocol
from suite.reference.digests import Array, digest
from suite.reference.expected import WHOLE_MAX
from suite.reference.findings import GateFindings
from suite.stacks.base import Adapter
from suite.worker import process_memory
from suite.worker.equivalence.decay import LackingDecay

# The part of a parameter that weight decay takes in three steps.
DECAY = protocol.LEARNING_RATE * protocol.WEIGHT_DECAY * protocol.GATE_STEPS
ROUNDINGS = 4 * 2.0**-24  # the part of a float32 weight that rounding in three steps may change


@dataclass
class Witness:
    """Parameters and buffers of the timed state after `GATE_STEPS` steps: small tensors whole, others as signed
    sums."""

    adapter: Adapter
    batch: Any
    seen: dict[str, Array] = field(default_factory=dict)
    peak_bytes: int = 0  # of the steps before the reading
    decay: LackingDecay = field(default_factory=lambda: LackingDecay(DECAY))  # of all parameters together

    def look(self, state: Any) -> None:
        """Reads the timed state. The peak of memory is reset afterwards, so that it doesn't include this reading."""
        if not (self.adapter.train and self.adapter.optimizer):
            return
        self.peak_bytes = process_memory.peak_bytes() or 0
        for name, value in self.adapter.read("parameters", state, self.batch).items():
            self.seen[name] = kept(name, value)
        process_memory.reset_peak()

    def testify(
        self, findings: GateFindings, name: str, before: Array, after: Array, noise: Array | None, limit: float
    ) -> None:
        """Requires that the timed steps moved a tensor to where the replay did, within `limit` times its movement."""
        what = f"{name} after {protocol.GATE_STEPS} timed steps"
        if name not in self.seen:
            findings.refuse(f"{what}: it is missing")
            return
        timed, replayed, start = self.seen[name], kept(name, after), kept(name, before)
        if noise is not None and noise.size == start.size:
            timed, replayed, start = (vector[~noise.reshape(-1)] for vector in (timed, replayed, start))
        difference, scale = timed - replayed, float(np.linalg.norm(start))
        self.decay.add(start, difference)
        distance = float(np.maximum(np.linalg.norm(difference) - ROUNDINGS * scale, 0.0))
        error = distance / (float(np.linalg.norm(replayed - start)) or 1.0)
        if not error <= limit:
            findings.refuse(f"{what}: relative error {error:.2g} over the tolerance {limit:.0e} against their replay")

    def close(self, findings: GateFindings) -> None:
        """Requires that the timed steps shrank all tensors together by as much as the replay did."""
        if self.decay.lost is not None:
            findings.refuse(
                f"parameters after {protocol.GATE_STEPS} timed steps: they shrank by {self.decay.lost:.1g} of "
                "themselves less than in the replay"
            )


def kept(name: str, value: Array) -> Array:
    """Returns a flat float64 copy of a small tensor, or the signed sums of a large one."""
    if value.size <= WHOLE_MAX:
        return np.array(value, np.float64).reshape(-1)
    return np.asarray(digest(value, f"timed/{name}").sums)
