"""The equivalence gate: does this stack compute what the float64 reference computes?

Runs after the last sample, in the process that was timed, with the stack's own compiled functions.
Error is ||a - r|| / ||r|| (Frobenius) per tensor. Elementwise relative error isn't gated: near zero it
is unbounded for correct stacks too. What is expected comes from `suite.reference.expected`; where a model
has no golden file of these dims, the gate measures digests, by which stacks are compared with each other.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from suite import protocol
from suite.reference.expected import Expected, digest_tolerance, peak
from suite.reference.optimizers import OPTIMIZERS
from suite.stacks.base import Adapter
from suite.worker import memory
from suite.worker.data import Data
from suite.worker.findings import Findings

INJECTED = (64, 33)  # shape of the optimizer's own test tensor


def run(adapter: Adapter, data: Data, result: Any, timed_losses: list[float]) -> Findings:
    """Gate one case. `result` is the last timed forward output, `timed_losses` those of the first steps.

    A state with moments is there only while it is stepped: with gradients beside it, more than a step takes could
    be asked of the machine. So weights are placed twice, and what came before is given back each time.
    """
    memory.release()
    expected = data.expected()
    findings = Findings(tolerance(adapter, expected), compared=expected is not None)
    check_reading(findings, adapter, data, expected, result)
    if not adapter.train:
        return findings
    if adapter.optimizer:
        memory.release()
        check_steps(findings, adapter, data, expected, timed_losses)
        check_optimizer(findings, adapter)
    elif expected is not None:
        for step, timed in enumerate(timed_losses, 1):
            findings.relative(f"loss of timed step {step}", timed, expected.losses[0])
    return findings


def check_reading(findings: Findings, adapter: Adapter, data: Data, expected: Expected | None, result: Any) -> None:
    """What the canonical weights give: the output, and in the train pass the loss and every gradient."""
    state, batch = data.place(adapter, moments=False)
    wanted = None if expected is None else expected.output
    read = adapter.read("output", state, batch)
    if findings.same_names("forward pass", read, ["output"]):
        findings.compare("output", "forward output", read["output"], wanted)
    if not adapter.train:
        findings.compare("output", "last timed output", result, wanted)
        return
    read = adapter.read("gradients", state, batch)
    if findings.same_names("loss and gradients", read, ["loss", *data.parameters]):
        findings.compare("loss", "loss", read["loss"], None if expected is None else np.asarray(expected.losses[0]))
        for name in data.parameters:
            check_gradient(findings, adapter, name, read[name], expected)


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
    held_to_whole_tensors = expected is not None and expected.exact
    if held_to_whole_tensors and precision == "f32":
        return tolerance(adapter, expected)
    if hasattr(spec, "GRADIENT_TOLERANCE"):
        return digest_tolerance(spec, precision, "gradient/")
    return tolerance(adapter, expected)


def check_gradient(findings: Findings, adapter: Adapter, name: str, gradient: Any, expected: Expected | None) -> None:
    """One parameter's gradient. One that is zero but for rounding has no relative error: it must be small."""
    allowed = gradient_tolerance(adapter, expected)
    if expected is None:
        findings.compare(f"gradient/{name}", f"gradient of {name}", gradient, None, allowed)
        return
    wanted, largest = expected.gradients[name], expected.largest_gradient
    if peak(wanted) < protocol.ZERO_GRADIENT * largest:
        noise = protocol.ZERO_NOISE[adapter.case.precision] * largest
        findings.absolute(f"gradient of {name}, which is zero", gradient, np.zeros_like(gradient), noise)
        return
    findings.compare(f"gradient/{name}", f"gradient of {name}", gradient, wanted, allowed)


def check_steps(
    findings: Findings, adapter: Adapter, data: Data, expected: Expected | None, timed_losses: list[float]
) -> None:
    """Three whole steps: their losses, those that the timed process had, and the parameters after them."""
    state, batch = data.place(adapter)
    for step in range(protocol.GATE_STEPS):
        state, outputs = adapter.step(state, batch)
        adapter.wait(state, outputs)
        loss = float(adapter.fetch(outputs))
        # A golden file of digests has the first step alone.
        known = None if expected is None or step >= len(expected.losses) else np.asarray(expected.losses[step])
        findings.compare(f"loss {step + 1}", f"loss of step {step + 1}", loss, known)
        if step < len(timed_losses):
            findings.relative(f"loss of timed step {step + 1}", timed_losses[step], loss if known is None else known)
    if expected is None or not expected.after:
        return
    read = adapter.read("parameters", state, batch)
    if not findings.same_names("parameters", read, expected.after):
        return
    for name, before in data.values():
        check_parameter(findings, name, before, read[name], expected)


def check_parameter(findings: Findings, name: str, before: Any, actual: Any, expected: Expected) -> None:
    """One parameter or buffer after the steps."""
    what, after = f"{name} after {protocol.GATE_STEPS} steps", expected.after[name]
    if not findings.same_shape(what, actual, after):
        return
    # Where the true gradient is zero, AdamW makes +-lr of its rounding noise: only the bound is asked.
    noise = expected.noise.get(name, np.zeros(after.shape, np.bool_))
    moved = np.abs(actual.astype(np.float64) - before)
    bound = 1.1 * protocol.LEARNING_RATE * protocol.GATE_STEPS
    over = np.maximum(moved[noise] - bound, 0.0)
    findings.absolute(f"{name} where its gradient is zero", over, np.zeros_like(over), 0.0)
    findings.relative(what, actual[~noise], after[~noise])


def check_optimizer(findings: Findings, adapter: Adapter) -> None:
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
    if findings.same_names("optimizer with injected gradients", after, optimizer.parameters):
        findings.absolute("optimizer with injected gradients", after["p"], optimizer.parameters["p"],
                      protocol.OPTIMIZER_TOLERANCE)  # fmt: skip
