"""The equivalence gate: does this stack compute what the float64 reference computes?

Runs after the last sample, in the process that was timed, with the stack's own compiled functions.
Error is ||a - r|| / ||r|| (Frobenius) per tensor. Elementwise relative error isn't gated: near zero it
is unbounded for correct stacks too. What is expected comes from `suite.workloads.golden`; where a model
has no golden file of these dims, the gate measures digests, by which stacks are compared with each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suite import protocol
from suite.reference.expected import Digest, Expected, digest, digest_tolerance, peak
from suite.reference.optimizers import OPTIMIZERS
from suite.stacks.base import Adapter
from suite.worker.data import Data

Tensors = Mapping[str, NDArray[Any]]
INJECTED = (64, 33)  # shape of the optimizer's own test tensor
REASONS_MAX = 5  # that a row tells: a wrong norm is wrong in every tensor behind it


@dataclass
class Gate:
    """Collects errors; `reasons` is empty for an equal stack."""

    tolerance: float
    worst: float = 0.0
    reasons: list[str] = field(default_factory=list)
    digests: dict[str, tuple[float, float]] = field(default_factory=dict)
    compared: bool = True  # with something beyond this process

    @property
    def reason(self) -> str:
        """What is wrong, for a row."""
        more = len(self.reasons) - REASONS_MAX
        return "; ".join(self.reasons[:REASONS_MAX]) + (f"; and {more} more" if more > 0 else "")

    def relative(self, what: str, actual: Any, expected: Any, tolerance: float | None = None) -> None:
        """Ask ||actual - expected|| <= tolerance ||expected||; NaN fails. A digest asks it of its two figures."""
        if isinstance(expected, Digest):
            found = digest(np.asarray(actual), what)
            pairs = ((found.norm, expected.norm), (found.projection, expected.projection))
            return self.judge(what, max(abs(a - b) for a, b in pairs) / (expected.norm or 1.0), tolerance)
        actual, expected = np.asarray(actual, np.float64), np.asarray(expected, np.float64)
        if not self.same_shape(what, actual, expected):
            return None
        norm = float(np.linalg.norm(expected.ravel()))
        return self.judge(what, float(np.linalg.norm((actual - expected).ravel())) / (norm or 1.0), tolerance)

    def judge(self, what: str, error: float, tolerance: float | None = None) -> None:
        """Hold a relative error to a tolerance, the gate's if none is given."""
        allowed = self.tolerance if tolerance is None else tolerance
        self.worst = max(self.worst, error) if np.isfinite(error) else float("inf")
        if not error <= allowed:
            self.reasons.append(f"{what}: relative error {error:.2g} over the tolerance {allowed:.0e}")

    def absolute(self, what: str, actual: Any, expected: Any, tolerance: float) -> None:
        """Ask every |actual - expected| <= tolerance; NaN fails."""
        actual, expected = np.asarray(actual, np.float64), np.asarray(expected, np.float64)
        if not self.same_shape(what, actual, expected):
            return
        error = float(np.max(np.abs(actual - expected), initial=0.0))
        if not error <= tolerance:
            self.reasons.append(f"{what}: absolute error {error:.2g} over the tolerance {tolerance:.0e}")

    def compare(self, key: str, what: str, actual: Any, expected: Any, tolerance: float | None = None) -> None:
        """Ask for what is expected; where nothing is, keep the digest for a comparison of stacks."""
        if expected is None:
            found = digest(np.asarray(actual), key)
            self.digests[key] = (found.norm, found.projection)
        else:
            self.relative(what if not isinstance(expected, Digest) else key, actual, expected, tolerance)

    def same_names(self, what: str, actual: Tensors, expected: Iterable[str]) -> bool:
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
    expected = data.expected()
    gate = Gate(tolerance(adapter, expected), compared=expected is not None)
    state, batch = data.place(adapter)
    output = adapter.read("output", state, batch)
    if gate.same_names("forward pass", output, ["output"]):
        gate.compare("output", "forward output", output["output"], expected and expected.output)
    if not adapter.train:
        gate.compare("output", "last timed output", result, expected and expected.output)
        return gate
    gradients = adapter.read("gradients", state, batch)
    if gate.same_names("loss and gradients", gradients, ["loss", *data.parameters]):
        gate.compare("loss", "loss", gradients.pop("loss"), expected and np.asarray(expected.losses[0]))
        for name, gradient in gradients.items():
            check_gradient(gate, adapter, name, gradient, expected)
    del gradients
    if adapter.optimizer:
        check_steps(gate, adapter, data, expected, state, batch, timed_losses)
        check_optimizer(gate, adapter)
    elif expected:
        for step, timed in enumerate(timed_losses, 1):
            gate.relative(f"loss of timed step {step}", timed, expected.losses[0])
    return gate


def tolerance(adapter: Adapter, expected: Expected | None) -> float:
    """By precision; larger for models, which have no reference of their own, and for digests."""
    precision = adapter.case.precision
    if hasattr(adapter.workload.spec, "reference"):
        return protocol.TOLERANCE[precision]
    exact = expected is not None and expected.exact
    return (protocol.MODEL_TOLERANCE if exact else protocol.DIGEST_TOLERANCE)[precision]


def gradient_tolerance(adapter: Adapter, expected: Expected | None) -> float:
    """As the rest of the step's, unless the spec says that it can't be. In f32 small sizes know no exception."""
    spec, precision = adapter.workload.spec, adapter.case.precision
    if hasattr(spec, "GRADIENT_TOLERANCE") and not (expected and expected.exact and precision == "f32"):
        return digest_tolerance(spec, precision, "gradient/")
    return tolerance(adapter, expected)


def check_gradient(gate: Gate, adapter: Adapter, name: str, gradient: Any, expected: Expected | None) -> None:
    """One parameter's gradient. One that is zero but for rounding has no relative error: it must be small."""
    wanted = expected.gradients[name] if expected else None
    zero = protocol.ZERO_GRADIENT * expected.largest_gradient if expected else 0.0
    if expected and wanted is not None and peak(wanted) < zero:
        noise = protocol.ZERO_NOISE[adapter.case.precision] * expected.largest_gradient
        gate.absolute(f"gradient of {name}, which is zero", gradient, np.zeros_like(gradient), noise)
    else:
        allowed = gradient_tolerance(adapter, expected)
        gate.compare(f"gradient/{name}", f"gradient of {name}", gradient, wanted, allowed)


def check_steps(
    gate: Gate, adapter: Adapter, data: Data, expected: Expected | None, state: Any, batch: Any,
    timed_losses: list[float],
) -> None:  # fmt: skip
    """Three whole steps: their losses, those that the timed process had, and the parameters after them."""
    for step in range(protocol.GATE_STEPS):
        state, outputs = adapter.step(state, batch)
        adapter.wait(state, outputs)
        loss = float(adapter.fetch(outputs))
        # A golden file of digests has the first step alone.
        known = expected.losses[step] if expected and step < len(expected.losses) else None
        gate.compare(f"loss {step + 1}", f"loss of step {step + 1}", loss, None if known is None else np.asarray(known))
        if step < len(timed_losses):
            gate.relative(f"loss of timed step {step + 1}", timed_losses[step], loss if known is None else known)
    if expected is None or not expected.after:
        return
    actual = adapter.read("parameters", state, batch)
    if not gate.same_names("parameters", actual, expected.after):
        return
    before = dict(data.values())
    for name, after in expected.after.items():
        if not gate.same_shape(f"{name} after {protocol.GATE_STEPS} steps", actual[name], after):
            continue
        # Where the true gradient is zero, AdamW makes +-lr of its rounding noise: only the bound is asked.
        noise = expected.noise.get(name, np.zeros(after.shape, np.bool_))
        moved = np.abs(actual[name].astype(np.float64) - before[name])
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
    optimizer = OPTIMIZERS[adapter.optimizer or ""]({"p": p.astype(np.float64)})
    for gradients in injected:
        optimizer.step({"p": gradients["p"].astype(np.float64)})
    after = adapter.update({"p": p}, injected)
    if gate.same_names("optimizer with injected gradients", after, optimizer.parameters):
        gate.absolute("optimizer with injected gradients", after["p"], optimizer.parameters["p"],
                      protocol.OPTIMIZER_TOLERANCE)  # fmt: skip
