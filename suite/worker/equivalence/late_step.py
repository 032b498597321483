"""The step after the clocks: one more step of the timed state must be right, however many steps came before it.

The gate's replay begins with fresh weights and compares three steps with a reference. A stack that computed these and
then stopped would be the fastest of all. So the timed state, after all its timed steps, takes one more step by the
function that was timed. What that step must do follows from the state alone: functions that the gate compares with the
reference read its loss and gradients, and the optimizer's equations are applied to the state's own moments, in float64.
Optimizers work element by element, so of large tensors a random sample of the elements is enough. Of an optimizer that
a file brings no equations are known: then every parameter that has a gradient must move.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suite import protocol
from suite.reference.digests import Array, difference
from suite.reference.findings import GateFindings
from suite.reference.optimizers import OPTIMIZERS, Tensors
from suite.stacks.base import Adapter
from suite.worker.equivalence import checked_step
from suite.worker.equivalence.decay import LackingDecay
from suite.workloads.tensors import random_words

ROUNDINGS = 4 * 2.0**-24  # the part of a float32 value that rounding in one step may change
SAMPLES = 1 << 12  # elements of a large tensor
FIGURES_MIN = 16  # distinct values; of fewer, all may have the zeros of a bfloat16 by chance

# A small model fits its batch after some thousand steps. Where a gradient is under this share of the largest at fresh
# weights, a right step may be too short for float32: 3e-9 was seen where the first was 1.3.
FITTED = 1e-4


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
    seconds: float

    def judge(self, findings: GateFindings, optimizer: str, fresh_gradient: float = 0.0) -> None:
        """Requires that the step's loss was that of its parameters, and that its gradients changed moments and
        parameters by the optimizer's equations. Gradients that are zero up to rounding are left out. `fresh_gradient`
        is the largest at fresh weights, as the reference has it."""
        what = f"timed step {self.steps + 1}"
        limits = findings.tolerances
        if not abs(self.loss - self.read_loss) <= limits.late_loss * abs(self.read_loss):
            findings.refuse(f"loss of {what} is {self.loss:.6g}, but its parameters give {self.read_loss:.6g}")
        if optimizer not in OPTIMIZERS:
            self.must_move(findings, what, FITTED * fresh_gradient)
            return
        # A parameter that the loss doesn't depend on has no gradient, which the gate refuses by itself.
        start = {name: self.parameters[0][name] for name in self.gradients}
        exact = OPTIMIZERS[optimizer](start, self.moments[0], self.steps)
        exact.step(self.gradients)
        largest = protocol.ZERO_GRADIENT * max(self.largest.values(), default=0.0)
        decay = protocol.LEARNING_RATE * protocol.WEIGHT_DECAY
        decayed, untouched = LackingDecay(decay), LackingDecay(decay)
        for name, gradient in self.gradients.items():
            has_gradient = np.abs(gradient) >= largest
            before, after = (tensors[name] for tensors in self.parameters)
            apart, without = after - exact.parameters[name], gradient == 0.0
            untouched.add(before[without], apart[without])
            if self.largest[name] >= largest:
                decayed.add(before[has_gradient], apart[has_gradient])
            if self.largest[name] < largest or not has_gradient.any():
                continue
            for kind, beta in exact.betas.items():
                key = f"{kind}/{name}"
                old, new, wanted = beta * self.moments[0][key], self.moments[1][key], exact.moments[key]
                self.hold(findings, f"{kind} of {name} in {what}", old, new, wanted, has_gradient)
            self.hold(findings, f"{name} in {what}", before, after, exact.parameters[name], has_gradient)
        for key, values in self.moments[1].items():
            if is_bfloat16(values):
                findings.refuse(f"{key[0]} of {key[2:]} in {what} is kept in bfloat16")
        if optimizer in protocol.ADAMW and limits.precision == "f32":
            for which, lacking in (("parameters", decayed), ("elements without a gradient", untouched)):
                if lacking.lost is not None:
                    findings.refuse(
                        f"{which} in {what} shrank by {lacking.lost:.1g} of themselves less than they should have "
                        f"(weight decay takes {decay:.0e})"
                    )

    def must_move(self, findings: GateFindings, what: str, least: float) -> None:
        largest = max(least, protocol.ZERO_GRADIENT * max(self.largest.values(), default=0.0))
        for name, gradient in self.gradients.items():
            before, after = (tensors[name] for tensors in self.parameters)
            if np.abs(gradient).max(initial=0.0) > largest and np.array_equal(before, after):
                findings.refuse(f"{name} in {what}: it hasn't changed")

    @staticmethod
    def hold(
        findings: GateFindings, what: str, before: Array, after: Array, wanted: Array, where: NDArray[np.bool_]
    ) -> None:
        """Compares what was added to some elements of `before` with what should have been added, apart from float32's
        rounding."""
        before, after, wanted = before[where], after[where], wanted[where]
        rounding = ROUNDINGS * float(np.linalg.norm(wanted))
        error = difference(after - before, wanted - before, what, rounding)
        findings.judge(what, error, findings.tolerances.late, counts=False)


def take(
    adapter: Adapter,
    state: Any,
    batch: Any,
    steps: int,
    alone: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> LateStep:
    """Takes one more step of a timed state, which is consumed, while no other process runs (`alone`)."""
    parameters = samples(adapter.read("parameters", state, batch), without=adapter.buffers)
    moments = samples(moments_of(adapter, state, batch))
    read = dict(adapter.read("gradients", state, batch))
    read_loss = float(read.pop("loss"))
    gradients, largest = samples(read), {name: float(np.abs(g).max(initial=0.0)) for name, g in read.items()}
    del read
    with alone():
        state, loss, seconds = checked_step.take(adapter, state, batch)
    return LateStep(
        steps,
        float(loss),
        read_loss,
        gradients,
        largest,
        (parameters, samples(adapter.read("parameters", state, batch), without=adapter.buffers)),
        (moments, samples(moments_of(adapter, state, batch))),
        seconds,
    )


def moments_of(adapter: Adapter, state: Any, batch: Any) -> Mapping[str, Array]:
    return adapter.read("moments", state, batch) if adapter.optimizer in OPTIMIZERS else {}


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
    words = random_words(f"places/{name}").random_raw(SAMPLES)
    places = np.unravel_index((np.asarray(words) % np.uint64(value.size)).astype(np.int64), value.shape)
    return np.array(value[places], np.float64)
