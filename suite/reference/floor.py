"""What a case can't do without: the memory of its own tensors, by part, from the spec alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from suite.reference.optimizers import OPTIMIZERS
from suite.workloads.tensors import buffers_of


@dataclass(frozen=True, slots=True)
class Floor:
    """Bytes in float32, in which every stack keeps them in every precision. `parameters` has the buffers, too."""

    parameters: int
    gradients: int
    optimizer: int
    inputs: int

    @property
    def state(self) -> int:
        """What a step keeps for the next one."""
        return self.parameters + self.optimizer

    @property
    def least(self) -> int:
        """What is there between two steps: no process holds less.

        Gradients aren't in it: a compiler may use each one up as soon as it is there.
        """
        return self.state + self.inputs

    @property
    def total(self) -> int:
        """With all gradients, as a step has them that computes them all before it applies any."""
        return self.least + self.gradients


def floor(spec: Any, dims: Mapping[str, int], pass_: str) -> Floor:
    """The floor of a workload's pass. Activations, and all that a framework needs for itself, come on top."""
    weights = sum(tensor.nbytes for tensor in spec.parameters(dims).values())
    buffers = sum(tensor.nbytes for tensor in buffers_of(spec, dims).values())
    batch = sum(tensor.nbytes for tensor in spec.inputs(dims).values())
    if pass_ != "train":
        return Floor(weights + buffers, 0, 0, batch)
    moments = OPTIMIZERS[spec.OPTIMIZER].moments if spec.OPTIMIZER else 0
    return Floor(weights + buffers, weights, moments * weights, batch + spec.target(dims).nbytes)
