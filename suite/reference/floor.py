"""Counts the memory floor of a case from its spec: the bytes of its own tensors, by part."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from suite.protocol import MOMENTS
from suite.workloads.catalog import Workload
from suite.workloads.tensors import nbytes


@dataclass(frozen=True, slots=True)
class Floor:
    """The bytes of a case's tensors in float32, because every stack keeps its state in float32 in every precision.
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
        """Returns the bytes that every process must hold between two steps.

        Gradients don't count, because a compiler may apply each gradient as soon as it is computed.
        """
        return self.state + self.inputs

    @property
    def total(self) -> int:
        """Returns the bytes of a step that computes all gradients before it applies any: `least` and all gradients."""
        return self.least + self.gradients


def floor(workload: Workload, dims: Mapping[str, int], pass_: str) -> Floor:
    """Returns the floor of a workload's pass. Activations, and what the framework needs for itself, aren't counted."""
    tensors, optimizer = workload.tensors(dims, pass_), workload.spec.OPTIMIZER
    weights, buffers, batch = map(nbytes, (tensors.parameters, tensors.buffers, tensors.batch))
    if pass_ == "forward":
        return Floor(weights + buffers, 0, 0, batch)
    moments = len(MOMENTS.get(optimizer, ()))  # none are known of a file's own optimizer
    return Floor(weights + buffers, weights, moments * weights, batch)
