"""The equivalence gate: does this stack compute what the float64 reference computes?

Runs after the last sample, in the process that was timed, with the stack's own compiled functions.
Error is ||a - r|| / ||r|| (Frobenius) per tensor. Elementwise relative error isn't gated: near zero it
is unbounded for correct stacks too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suite import protocol
from suite.stacks.base import Adapter
from suite.worker.data import Data

Tensors = Mapping[str, NDArray[Any]]
INJECTED = (64, 33)  # shape of the optimizer's own test tensor


@dataclass
class Gate:
    """Collects errors; `reasons` is empty for an equal stack."""

    tolerance: float
    worst: float = 0.0
    reasons: list[str] = field(default_factory=list)

    def relative(self, what: str, actual: Any, expected: Any) -> None:
        """Ask ||actual - expected|| <= tolerance ||expected||; NaN fails."""
        actual, expected = np.asarray(actual, np.float64), np.asarray(expected, np.float64)
        if not self.same_shape(what, actual, expected):
            return
        norm = float(np.linalg.norm(expected.ravel()))
        error = float(np.linalg.norm((actual - expected).ravel())) / (norm or 1.0)
        self.worst = max(self.worst, error) if np.isfinite(error) else float("inf")
        if not error <= self.tolerance:
            self.reasons.append(f"{what}: relative error {error:.2g} over the tolerance {self.tolerance:.0e}")

    def absolute(self, what: str, actual: Any, expected: Any, tolerance: float) -> None:
        """Ask every |actual - expected| <= tolerance; NaN fails."""
        actual, expected = np.asarray(actual, np.float64), np.asarray(expected, np.float64)
        if not self.same_shape(what, actual, expected):
            return
        error = float(np.max(np.abs(actual - expected), initial=0.0))
        if not error <= tolerance:
            self.reasons.append(f"{what}: absolute error {error:.2g} over the tolerance {tolerance:.0e}")

    def same_names(self, what: str, actual: Tensors, expected: Tensors) -> bool:
        """Ask for exactly the expected tensors."""
        if set(actual) != set(expected):
            self.refuse(f"{what}: has {sorted(actual)}, the reference {sorted(expected)}")
        return set(actual) == set(expected)

    def same_shape(self, what: str, actual: NDArray[Any], expected: NDArray[Any]) -> bool:
        """Ask for the expected shape: broadcasting would compare something else."""
        if actual.shape != expected.shape:
            self.refuse(f"{what} has shape {actual.shape}, the reference {expected.shape}")
        return actual.shape == expected.shape

    def refuse(self, reason: str) -> None:
        """An answer that can't be compared at all: no finite error describes it."""
        self.worst = float("inf")
        self.reasons.append(reason)


def run(adapter: Adapter, data: Data, result: Any, timed_losses: list[float]) -> Gate:
    """Gate one case. `result` is the last timed forward output, `timed_losses` those of the first steps."""
    gate = Gate(protocol.TOLERANCE[adapter.case.precision])
    parameters, inputs = data.exact()
    target = inputs.pop("target", None)
    expected = data.reference(parameters, inputs, target)
    state, batch = data.place(adapter)
    output = adapter.read("output", state, batch)
    if gate.same_names("forward pass", output, {"output": expected["output"]}):
        gate.relative("forward output", output["output"], expected["output"])
    if not adapter.train:
        gate.relative("last timed output", result, expected["output"])
        return gate
    gradients = adapter.read("gradients", state, batch)
    wanted = {"loss": expected["loss"]} | {name: expected[name] for name in parameters}
    if gate.same_names("loss and gradients", gradients, wanted):
        for name, value in wanted.items():
            gate.relative(name if name == "loss" else f"gradient of {name}", gradients[name], value)
    if adapter.optimizer:
        check_steps(gate, adapter, data, state, batch, timed_losses)
        check_optimizer(gate, adapter)
    else:
        for step, loss in enumerate(timed_losses, 1):
            gate.relative(f"loss of timed step {step}", loss, expected["loss"])
    return gate


def check_steps(
    gate: Gate, adapter: Adapter, data: Data, state: Any, batch: Any, timed_losses: list[float]
) -> None:
    """Three whole steps: their losses, those that the timed process had, and the parameters after them."""
    parameters, inputs = data.exact()
    target = inputs.pop("target")
    optimizer = AdamW(parameters)
    largest, losses = 0.0, []
    smallest = {name: np.full(p.shape, np.inf) for name, p in parameters.items()}
    for _ in range(protocol.GATE_STEPS):
        expected = data.reference(optimizer.parameters, inputs, target)
        losses.append(float(expected["loss"]))
        gradients = {name: expected[name] for name in parameters}
        largest = max(largest, *(float(np.abs(g).max()) for g in gradients.values()))
        smallest = {name: np.minimum(s, np.abs(gradients[name])) for name, s in smallest.items()}
        optimizer.step(gradients)
    for step, loss in enumerate(losses, 1):
        state, outputs = adapter.step(state, batch)
        adapter.wait(state, outputs)
        gate.relative(f"loss of step {step}", float(adapter.fetch(outputs)), loss)
        if step <= len(timed_losses):
            gate.relative(f"loss of timed step {step}", timed_losses[step - 1], loss)
    actual = adapter.read("parameters", state, batch)
    if not gate.same_names("parameters", actual, parameters):
        return
    for name, after in optimizer.parameters.items():
        if not gate.same_shape(f"{name} after {protocol.GATE_STEPS} steps", actual[name], after):
            continue
        # Where the true gradient is zero, AdamW makes +-lr of its rounding noise: only the bound is asked.
        noise = smallest[name] < protocol.ZERO_GRADIENT * largest
        moved = np.abs(actual[name] - parameters[name])
        bound = 1.1 * protocol.LEARNING_RATE * protocol.GATE_STEPS
        over = np.maximum(moved[noise] - bound, 0.0)
        gate.absolute(f"{name} where its gradient is zero", over, np.zeros_like(over), 0.0)
        gate.relative(f"{name} after {protocol.GATE_STEPS} steps", actual[name][~noise], after[~noise])


def check_optimizer(gate: Gate, adapter: Adapter) -> None:
    """The optimizer apart: injected gradients from 1 down to 1e-11 and 0, both signs."""
    count = INJECTED[0] * INJECTED[1]
    magnitudes = np.logspace(0, -11, count)
    magnitudes[::7] = 0.0
    g = (magnitudes * np.where(np.arange(count) % 2, 1.0, -1.0)).reshape(INJECTED).astype(np.float32)
    # Weights of an ordinary size: the float32 rounding of a weight near 1 alone is a third of the tolerance.
    p = np.linspace(-0.25, 0.25, count).reshape(INJECTED).astype(np.float32)
    # Equal gradients in each step would hide the betas: the bias correction cancels them.
    injected = [{"p": g * np.float32(scale)} for scale in (1.0, -0.5, 0.25)]
    optimizer = AdamW({"p": p.astype(np.float64)})
    for gradients in injected:
        optimizer.step({"p": gradients["p"].astype(np.float64)})
    after = adapter.update({"p": p}, injected)
    if gate.same_names("optimizer with injected gradients", after, optimizer.parameters):
        gate.absolute("optimizer with injected gradients", after["p"], optimizer.parameters["p"],
                      protocol.OPTIMIZER_TOLERANCE)  # fmt: skip


class AdamW:
    """The reference in float64: p (1 - lr wd) - lr/c1 m / (sqrt(v/c2) + eps)."""

    def __init__(self, parameters: Tensors) -> None:
        self.parameters: dict[str, NDArray[np.float64]] = {k: np.array(v, np.float64) for k, v in parameters.items()}
        self.m = {name: np.zeros_like(p) for name, p in self.parameters.items()}
        self.v = {name: np.zeros_like(p) for name, p in self.parameters.items()}
        self.count = 0

    def step(self, gradients: Tensors) -> None:
        """One update of every parameter."""
        self.count += 1
        c1, c2 = 1.0 - protocol.BETA1**self.count, 1.0 - protocol.BETA2**self.count
        for name, p in self.parameters.items():
            g = gradients[name]
            self.m[name] = protocol.BETA1 * self.m[name] + (1.0 - protocol.BETA1) * g
            self.v[name] = protocol.BETA2 * self.v[name] + (1.0 - protocol.BETA2) * g * g
            update = self.m[name] / c1 / (np.sqrt(self.v[name] / c2) + protocol.EPSILON)
            decayed = p * (1.0 - protocol.LEARNING_RATE * protocol.WEIGHT_DECAY)
            self.parameters[name] = decayed - protocol.LEARNING_RATE * update
