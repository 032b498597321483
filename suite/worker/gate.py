"""The equivalence gate: does this stack compute what the float64 reference computes?

Runs after the last sample, in the process that was timed, with the stack's own compiled functions.
Error is ||a - r|| / ||r|| (Frobenius) per tensor, estimated where a digest is all there is. Elementwise relative
error isn't gated: near zero it is unbounded for correct stacks too. What is expected comes from
`suite.reference.expected`; where a model has no golden file of these dims, the gate measures digests, by which stacks
are compared with each other.

Of a step, what it writes is gated: the movement of every parameter and buffer, not where it ends, which is nearly
where it began. A step in another precision is held to the same dialect file in f32, too, see `hold_to_float32`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from suite import protocol
from suite.reference.digests import Array, Digest, difference, digest
from suite.reference.expected import WHOLE_MAX, Expected, moved_key, movement, peak, shrinkage
from suite.reference.optimizers import OPTIMIZERS
from suite.reference.tolerances import Tolerances
from suite.stacks.base import Adapter
from suite.worker import memory
from suite.worker.data import Data
from suite.worker.findings import Findings
from suite.worker.witness import DECAY, ROUNDINGS, Witness

INJECTED = (64, 33)  # shape of the optimizer's own test tensor


@dataclass
class Timed:
    """What is left of the timed calls: losses of the first steps, the last result, and the state after three."""

    losses: list[float] = field(default_factory=list)
    result: Array | None = None
    witness: Witness | None = None


def run(adapter: Adapter, data: Data, timed: Timed) -> Findings:
    """Gate one case. The adapter isn't used after it."""
    found = Gate(adapter, data, data.expected()).run(timed)
    if adapter.case.precision != "f32":
        hold_to_float32(found, adapter, data)
    return found


def hold_to_float32(found: Findings, adapter: Adapter, data: Data) -> None:
    """The same dialect file at the same dims, by the same adapter in this process, in float32 and to its tolerances:
    then rounding alone is left to explain what the other precision gives. Where nobody else says what that must be,
    it does.
    """
    exact = Gate(adapter.twin("f32"), data, data.expected()).run(Timed())
    found.reasons += [f"in float32: {reason}" for reason in exact.reasons]
    for key in found.digests.keys() & exact.digests.keys():
        if not is_zero(key, exact.digests):
            found.hold(key, f"{key}, against float32", found.digests[key], exact.digests[key])
    found.digests = exact.digests


def is_zero(key: str, digests: dict[str, Digest]) -> bool:
    """Whether a gradient is zero but for rounding, or a movement made of it."""
    gradient = "gradient/" + key.partition("/")[2]
    largest = max((each.peak for name, each in digests.items() if name.startswith("gradient/")), default=0.0)
    return gradient in digests and digests[gradient].peak < protocol.ZERO_GRADIENT * largest


class Gate:
    """One stack held to what is expected.

    A state with moments is there only while it is stepped: with gradients beside it, more than a step takes could
    be asked of the machine. So weights are placed twice, and what came before is given back each time.
    """

    def __init__(self, adapter: Adapter, data: Data, expected: Expected | None) -> None:
        self.adapter, self.data, self.expected = adapter, data, expected
        exact = expected is not None and expected.exact
        self.tolerances = Tolerances(adapter.workload.spec, adapter.case.precision, exact)
        self.findings = Findings(self.tolerances, compared=expected is not None)
        # Where gradients are nothing but noise, in small tensors: as the reference has it, or else as it was read.
        self.noise: dict[str, Any] = dict(expected.noise) if expected else {}

    def run(self, timed: Timed) -> Findings:
        """All that is asked of the case's pass."""
        memory.release()
        self.check_reading(timed)
        if self.adapter.train:
            self.check_last_loss(timed)
            if self.adapter.optimizer:
                memory.release()
                self.check_steps(timed)
                self.check_optimizer()
        return self.findings

    @property
    def asks_decay(self) -> bool:
        """Whether decay shows: signs that coarser rounding turns move a parameter by more than three steps of it."""
        return self.adapter.optimizer == "adamw" and self.adapter.case.precision == "f32"

    def wanted(self, group: str, name: str) -> Any:
        """What is expected of a gradient or movement; None where nothing is."""
        return None if self.expected is None else getattr(self.expected, group)[name]

    def check_reading(self, timed: Timed) -> None:
        """What the canonical weights give: the output, and in the train pass the loss and every gradient."""
        adapter, findings, expected = self.adapter, self.findings, self.expected
        state, batch = self.data.place(adapter, moments=False)
        wanted = None if expected is None else expected.output
        read = adapter.read("output", state, batch)
        if findings.same_names("forward pass", read, ["output"]):
            findings.compare("output", "forward output", read["output"], wanted)
            if not adapter.train and timed.result is not None:
                against = read["output"] if wanted is None else wanted
                findings.hold("output", "last timed output", timed.result, against)
        if not adapter.train:
            return
        read = adapter.read("gradients", state, batch)
        if findings.same_names("loss and gradients", read, ["loss", *self.data.parameters]):
            loss = None if expected is None else np.asarray(expected.losses[0])
            findings.compare("loss", "loss", read["loss"], loss)
            for name in self.data.parameters:
                self.check_gradient(name, read[name])
            if expected is None and adapter.optimizer == "adamw":
                self.noise = noise_of({name: read[name] for name in self.data.parameters})

    def check_gradient(self, name: str, gradient: Any) -> None:
        """One parameter's gradient. One that is zero but for rounding has no relative error: it must be small."""
        what, wanted = f"gradient of {name}", self.wanted("gradients", name)
        if self.expected is not None and self.is_zero(name):
            noise = protocol.ZERO_NOISE[self.tolerances.precision] * self.expected.largest_gradient
            self.findings.absolute(f"{what}, which is zero", gradient, np.zeros_like(gradient), noise)
            return
        self.findings.compare(f"gradient/{name}", what, gradient, wanted)

    def is_zero(self, name: str) -> bool:
        """Whether a parameter's true gradient is zero everywhere."""
        if self.expected is None or name not in self.expected.gradients:
            return False
        return peak(self.expected.gradients[name]) < protocol.ZERO_GRADIENT * self.expected.largest_gradient

    def check_last_loss(self, timed: Timed) -> None:
        """Steps over the same batch learn it, so that the last loss is under the first; without an optimizer it is
        the first."""
        if not timed.losses:
            return  # the twin in float32 was never timed
        losses, last = timed.losses, None if timed.result is None else float(timed.result)
        if not self.adapter.optimizer:
            wanted = losses[0] if self.expected is None else self.expected.losses[0]
            for step, loss in enumerate(losses, 1):
                self.findings.relative(f"loss of timed step {step}", loss, wanted)
            if last is not None:
                self.findings.relative("last timed loss", last, wanted)
        elif last is not None and not last < losses[0]:
            self.findings.refuse(f"the last timed loss, {last!r}, isn't under the first, {losses[0]!r}")

    def check_steps(self, timed: Timed) -> None:
        """Three whole steps: their losses, those that the timed process had, and what they write."""
        adapter, findings, expected = self.adapter, self.findings, self.expected
        state, batch = self.data.place(adapter)
        for step in range(protocol.GATE_STEPS):
            state, outputs = adapter.step(state, batch)
            adapter.wait(state, outputs)
            loss = float(adapter.fetch(outputs))
            known = None if expected is None else np.asarray(expected.losses[step])
            findings.compare(f"loss {step + 1}", f"loss of step {step + 1}", loss, known)
            if step < len(timed.losses):
                wanted = loss if known is None else known
                findings.relative(f"loss of timed step {step + 1}", timed.losses[step], wanted)
        read = adapter.read("parameters", state, batch)
        if not findings.same_names("parameters", read, self.data.parameters | self.data.buffers):
            return
        for name, before in self.data.values():
            if findings.same_shape(f"{name} after {protocol.GATE_STEPS} steps", read[name], before):
                self.check_movement(name, before, read[name], timed.witness)
        if timed.witness and self.asks_decay:
            timed.witness.close(findings)

    def check_movement(self, name: str, before: Array, after: Array, witness: Witness | None) -> None:
        """What the steps have written into one parameter or buffer, replayed and timed."""
        trained, noise = name in self.data.parameters, self.noise.get(name)
        if trained and self.adapter.optimizer == "adamw":
            self.check_bound(name, before, after)
        if trained and self.is_zero(name):
            return
        key = moved_key(name, trained)
        limit, moved = self.tolerances.of(key), movement(before, after, noise)
        rounding = ROUNDINGS * float(np.linalg.norm(before))
        wanted = self.wanted("moved", name)
        if wanted is not None:
            what = f"movement of {name} in {protocol.GATE_STEPS} steps"
            found = difference(moved, wanted, key, rounding)
            self.findings.judge(what, found, limit, counts=False)
            if trained and self.asks_decay:
                self.check_decay(name, before, moved, found.error)
        elif noise is None or not noise.any():
            self.findings.digests[key] = digest(moved, key)
        if witness:
            witness.testify(self.findings, name, before, after, noise, min(limit.error, protocol.REPLAY_TOLERANCE_MAX))

    def check_bound(self, name: str, before: Array, after: Array) -> None:
        """No element goes further than AdamW can take it; all that is asked where its true gradient is zero."""
        bound = 1.1 * protocol.LEARNING_RATE * protocol.GATE_STEPS + DECAY * float(np.abs(before).max(initial=0.0))
        noise = self.noise.get(name)
        zero = slice(None) if self.is_zero(name) else noise
        if zero is not None:
            over = np.maximum(np.abs(movement(before, after)[zero]) - bound, 0.0)
            self.findings.absolute(f"{name} where its gradient is zero", over, np.zeros_like(over), 0.0)

    def check_decay(self, name: str, before: Array, moved: Array, error: float) -> None:
        """The part of itself that a parameter lost: that of the reference, but for what its other error may add, which
        is in no direction."""
        assert self.expected is not None
        length = float(np.linalg.norm(before)) or 1.0
        chance = 6.0 * error * float(np.linalg.norm(moved)) / (length * float(np.sqrt(before.size)))
        lost, wanted = shrinkage(before, moved), self.expected.shrunk[name]
        if not abs(lost - wanted) <= 0.3 * DECAY + chance:
            self.findings.refuse(
                f"{name} lost {lost:.2g} of itself in {protocol.GATE_STEPS} steps, the reference "
                f"{wanted:.2g}: weight decay takes {DECAY:.0e}"
            )

    def check_optimizer(self) -> None:
        """The optimizer apart: injected gradients from 1 down to 1e-11 and 0, both signs."""
        count = INJECTED[0] * INJECTED[1]
        magnitudes = np.logspace(0, -11, count)
        magnitudes[::7] = 0.0
        g = (magnitudes * np.where(np.arange(count) % 2, 1.0, -1.0)).reshape(INJECTED).astype(np.float32)
        # Weights of an ordinary size: the float32 rounding of a weight near 1 alone is a third of the tolerance.
        p = np.linspace(-0.25, 0.25, count).reshape(INJECTED).astype(np.float32)
        # Equal gradients in each step would hide the betas: the bias correction cancels them.
        injected = [{"p": g * np.float32(scale)} for scale in (1.0, -0.5, 0.25)]
        optimizer = OPTIMIZERS[self.adapter.optimizer or ""]({"p": p.astype(np.float64)})
        for gradients in injected:
            optimizer.step({"p": gradients["p"].astype(np.float64)})
        what, after = "optimizer with injected gradients", self.adapter.update({"p": p}, injected)
        if self.findings.same_names(what, after, optimizer.parameters):
            self.findings.absolute(what, after["p"], optimizer.parameters["p"], protocol.OPTIMIZER_TOLERANCE)


def noise_of(gradients: dict[str, Array]) -> dict[str, Any]:
    """The elements of small tensors whose gradient is zero but for rounding."""
    largest = max((float(np.abs(g).max(initial=0.0)) for g in gradients.values()), default=0.0)
    small = {name: g for name, g in gradients.items() if g.size <= WHOLE_MAX}
    return {name: np.abs(g) < protocol.ZERO_GRADIENT * largest for name, g in small.items()}
