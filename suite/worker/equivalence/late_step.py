"""The step after the clocks: one more step of the timed state must be right, however many steps came before it.

The gate's replay begins with fresh weights and compares three steps with a reference. A stack that computed these and
then stopped would be the fastest of all. So the timed state, after all its timed steps, takes one more step by the
function that was timed. What that step must do follows from the state alone: functions that the gate compares with the
reference read its loss and gradients, and the optimizer's equations are applied to the state's own moments, in float64.
Optimizers work element by element, so of large tensors a random sample of the elements is enough.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Container, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suite import protocol
from suite.reference.digests import Array, difference
from suite.reference.optimizers import OPTIMIZERS, Tensors
from suite.stacks.base import Adapter
from suite.worker.equivalence.findings import GateFindings

ROUNDINGS = 4 * 2.0**-24  # the part of a float32 value that rounding in one step may change
SAMPLES = 1 << 12  # elements of a large tensor
FIGURES_MIN = 16  # distinct values; of fewer, all may have the zeros of a bfloat16 by chance


@dataclass(frozen=True, slots=True)
class LateStep:
    """The state before and after one more step: samples of all tensors in float64, by canonical name.

    `loss` is the step's own; `read_loss`, `gradients` and `largest` (the largest magnitude of each gradient) are read
    from the state before it, which had taken `steps` steps. Moments have the names that `Adapter.read` gives them.
    """

    steps: int
    loss: float
    read_loss: float
    gradients: Tensors
    largest: Mapping[str, float]
    parameters: tuple[Tensors, Tensors]
    moments: tuple[Tensors, Tensors]

    def judge(self, findings: GateFindings, optimizer: str) -> None:
        """Requires that the step's loss was that of its parameters, and that its gradients changed moments and
        parameters by the optimizer's equations. Gradients that are zero up to rounding are left out."""
        what = f"timed step {self.steps + 1}"
        limits = findings.tolerances
        if not abs(self.loss - self.read_loss) <= limits.late_loss * abs(self.read_loss):
            findings.refuse(f"loss of {what} is {self.loss:.6g}, but its parameters give {self.read_loss:.6g}")
        # A parameter that the loss doesn't depend on has no gradient, which the gate refuses by itself.
        start = {name: self.parameters[0][name] for name in self.gradients}
        exact = OPTIMIZERS[optimizer](start, self.moments[0], self.steps)
        exact.step(self.gradients)
        largest = protocol.ZERO_GRADIENT * max(self.largest.values(), default=0.0)
        decayed, untouched = Decay("parameters"), Decay("elements without a gradient")
        for name, gradient in self.gradients.items():
            has_gradient = np.abs(gradient) >= largest
            before, after = (tensors[name] for tensors in self.parameters)
            untouched.add(before, after, exact.parameters[name], gradient == 0.0)
            if self.largest[name] >= largest:
                decayed.add(before, after, exact.parameters[name], has_gradient)
            if self.largest[name] < largest or not has_gradient.any():
                continue
            wanted = {f"{kind}/{name}": beta for kind, beta in exact.betas.items()}
            for key, beta in wanted.items():
                decayed_moments, new = beta * self.moments[0][key][has_gradient], self.moments[1][key][has_gradient]
                self.hold(
                    findings, f"{key[0]} of {name} in {what}", decayed_moments, new, exact.moments[key][has_gradient]
                )
            self.hold(
                findings,
                f"{name} in {what}",
                before[has_gradient],
                after[has_gradient],
                exact.parameters[name][has_gradient],
            )
        for key, values in self.moments[1].items():
            if is_bfloat16(values):
                findings.refuse(f"{key[0]} of {key[2:]} in {what} is kept in bfloat16")
        if optimizer == "adamw" and limits.precision == "f32":
            decayed.judge(findings, what)
            untouched.judge(findings, what)

    @staticmethod
    def hold(findings: GateFindings, what: str, before: Array, after: Array, wanted: Array) -> None:
        """Compares what was added to `before` with what should have been added, apart from float32's rounding."""
        rounding = ROUNDINGS * float(np.linalg.norm(wanted))
        error = difference(after - before, wanted - before, what, rounding)
        findings.judge(what, error, findings.tolerances.late, counts=False)


@dataclass(slots=True)
class Decay:
    """The weight decay that a step lacks, as a fraction of each weight. Weight decay is too small to show in a
    tensor's whole movement, but it points along the weights; other differences point in no particular direction."""

    what: str
    along: float = 0.0  # <difference, weights>
    apart: float = 0.0  # squares of the difference
    squares: float = 0.0  # of the weights
    figures: int = 0

    def add(self, before: Array, after: Array, wanted: Array, where: NDArray[np.bool_]) -> None:
        """Adds some elements of a parameter."""
        difference, start = (after - wanted)[where], before[where]
        self.along += float(difference @ start)
        self.apart += float(difference @ difference)
        self.squares += float(start @ start)
        self.figures += start.size

    def judge(self, findings: GateFindings, step: str) -> None:
        """Requires that the elements shrank as they should have, up to 0.3 of the decay and six standard deviations."""
        if not self.squares:
            return
        decay = protocol.LEARNING_RATE * protocol.WEIGHT_DECAY
        allowed = 0.3 * decay + 6.0 * math.sqrt(self.apart / self.figures / self.squares)
        if not abs(self.along) / self.squares <= allowed:
            findings.refuse(
                f"{self.what} in {step} shrank by {self.along / self.squares:.1g} of themselves less than they should "
                f"have (weight decay takes {decay:.0e})"
            )


def take(adapter: Adapter, state: Any, batch: Any, steps: int) -> LateStep:
    """Takes one more step of a timed state, which is consumed."""
    parameters = samples(adapter.read("parameters", state, batch), without=adapter.buffers)
    moments = samples(adapter.read("moments", state, batch))
    read = dict(adapter.read("gradients", state, batch))
    read_loss = float(read.pop("loss"))
    gradients, largest = samples(read), {name: float(np.abs(g).max(initial=0.0)) for name, g in read.items()}
    del read
    state, outputs = adapter.step(state, batch)
    adapter.wait(state, outputs)
    return LateStep(
        steps,
        float(adapter.results(outputs)),
        read_loss,
        gradients,
        largest,
        (parameters, samples(adapter.read("parameters", state, batch), without=adapter.buffers)),
        (moments, samples(adapter.read("moments", state, batch))),
    )


def is_bfloat16(values: Array) -> bool:
    """Whether the values were rounded to bfloat16: there are many different ones, and bfloat16 holds each exactly."""
    bits = np.asarray(values, np.float32).view(np.uint32)
    return bool(not np.any(bits & 0xFFFF) and np.unique(bits).size > FIGURES_MIN)


def samples(tensors: Mapping[str, Array], without: Container[str] = ()) -> dict[str, NDArray[np.float64]]:
    """Returns a copy of each tensor, or of `SAMPLES` of its elements: the same elements of moments and parameters."""
    return {name: sample(name.rpartition("/")[2], value) for name, value in tensors.items() if name not in without}


def sample(name: str, value: Array) -> NDArray[np.float64]:
    """Returns a small tensor, or the elements of a large one at places that depend on its name, flat in float64."""
    if value.size <= SAMPLES:
        return np.array(value, np.float64).reshape(-1)
    key = hashlib.sha256(f"places/{name}".encode()).digest()[:16]
    words = np.random.Philox(key=np.frombuffer(key, dtype="<u8")).random_raw(SAMPLES)
    places = np.unravel_index((np.asarray(words) % np.uint64(value.size)).astype(np.int64), value.shape)
    return np.array(value[places], np.float64)
