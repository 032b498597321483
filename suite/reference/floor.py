"""The memory floor of a case: the bytes of its own tensors, by part, from the spec alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from suite.reference.optimizers import OPTIMIZERS
from suite.workloads.tensors import buffers_of


@dataclass(frozen=True, slots=True)
class Floor:
    """Bytes of a case's tensors in float32: every stack keeps its state in float32, whatever the precision.
    `parameters` includes the buffers."""

    parameters: int
    gradients: int
    optimizer: int
    inputs: int

    @property
    def state(self) -> int:
        """Returns the bytes that a step keeps for the next one."""
        return self.parameters + self.optimizer

    @property
    def least(self) -> int:
        """Returns the bytes held between two steps: no process holds less.

        Gradients don't count, because a compiler may apply each gradient as soon as it is computed.
        """
        return self.state + self.inputs

    @property
    def total(self) -> int:
        """Returns `least` plus all gradients, for a step that computes them all before it applies any."""
        return self.least + self.gradients


def floor(spec: Any, dims: Mapping[str, int], pass_: str) -> Floor:
    """Returns the floor of a workload's pass. Activations and the framework's own needs come on top."""
    weights = sum(tensor.nbytes for tensor in spec.parameters(dims).values())
    buffers = sum(tensor.nbytes for tensor in buffers_of(spec, dims).values())
    batch = sum(tensor.nbytes for tensor in spec.inputs(dims).values())
    if pass_ != "train":
        return Floor(weights + buffers, 0, 0, batch)
    moments = len(OPTIMIZERS[spec.OPTIMIZER].betas) if spec.OPTIMIZER else 0
    return Floor(weights + buffers, weights, moments * weights, batch + spec.target(dims).nbytes)
