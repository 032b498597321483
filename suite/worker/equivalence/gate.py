"""The equivalence gate: does this stack compute what the float64 reference computes?

It runs after the last sample, in the process that was timed, with the stack's own compiled functions. The error of a
tensor is ||a - r|| / ||r|| (Frobenius), estimated where there is only a digest. Elementwise relative error isn't gated:
near zero it is unbounded for correct stacks too. `suite.reference.expected` says what is right; where a model has no
golden file of these dims, the gate writes digests, by which the run compares stacks with each other.

Of what a step writes, the gate checks the movement of every parameter and buffer (the value after the steps minus the
value before). It doesn't compare the values themselves: they hardly change, whatever the step did. A step in another
precision is also compared with the same dialect file in f32, see `hold_to_float32`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from suite import protocol
from suite.reference.digests import Array, Digest, difference
from suite.reference.expected import WHOLE_MAX
from suite.reference.findings import GateFindings, kind_of
from suite.reference.optimizers import OPTIMIZERS
from suite.reference.tolerances import BY, FORM
from suite.stacks.base import Adapter
from suite.worker import process_memory
from suite.worker.data import Data
from suite.worker.equivalence import kinks, other_values, steps, stressed
from suite.worker.equivalence.comparison import Comparison, TimedEvidence
from suite.worker.equivalence.late_step import is_bfloat16, sample
from suite.workloads.tensors import COMPLEX, FLOATS, generate_all, itemsize

FLOATING = (*FLOATS, *COMPLEX)
MUCH_BYTES = 2**26  # of a case's tensors
# Times the noise of a gradient that is zero, of anybody's model: a bias before a batch norm has a gradient that cancels
# over the whole batch, of which Inductor left 1.6e-5 of the largest gradient (a CNN of 8 images).
CANCELLED = 10.0
INJECTED = (64, 33)  # shape of the tensor that the optimizer alone is tested with


def run(adapter: Adapter, data: Data, timed: TimedEvidence) -> GateFindings:
    """Gates one case. The adapter can't be used afterwards."""
    findings = Gate(adapter, data, data.expected(adapter.optimizer)).run(timed)
    findings.no_float64 = data.no_float64
    if adapter.case.precision != "f32":
        hold_to_float32(findings, adapter, data)
    return findings


def hold_to_float32(findings: GateFindings, adapter: Adapter, data: Data) -> None:
    """Gates the same dialect file at the same dims in float32, by the same adapter in this process, at the tolerances
    of float32. If that is right, only rounding is left to explain the results of the other precision. Tensors of the
    other precision without a reference are compared with the digests of the float32 ones.
    """
    exact_adapter = adapter.adapter_in("f32")
    exact = Gate(exact_adapter, data, data.expected(exact_adapter.optimizer)).run(TimedEvidence())
    findings.unstable += exact.unstable
    findings.reasons += [f"in float32: {reason}" for reason in exact.reasons]
    for key in findings.digests.keys() & exact.digests.keys():
        if not is_zero(key, exact.digests):
            findings.hold(key, f"{key}, against float32", findings.digests[key], exact.digests[key])
    findings.digests = exact.digests


def is_zero(key: str, digests: dict[str, Digest]) -> bool:
    """Whether a tensor is a gradient that is zero up to rounding, or a movement made of such a gradient."""
    gradient = "gradient/" + key.partition(BY)[0].partition("/")[2]
    largest = max((digest.peak for name, digest in digests.items() if name.startswith("gradient/")), default=0.0)
    return gradient in digests and digests[gradient].peak < protocol.ZERO_GRADIENT * largest


class Gate(Comparison):
    """Compares one stack with the reference.

    A state with moments exists only while steps are taken: if gradients were read beside it, the gate could need more
    memory than a step. So the weights are placed anew for each group of checks, after the memory of the group before
    has been given back.
    """

    def run(self, timed: TimedEvidence) -> GateFindings:
        """Runs all checks of the case's pass."""
        self.release()
        self.check_inputs((timed.witness.batch if timed.witness else None) or {})
        self.check_reading(timed)
        if timed.witness and not (self.adapter.train and self.adapter.optimizer):
            self.release()
            other_values.check(self.adapter, self.data, timed, self.findings)
        if self.adapter.train:
            self.check_last_loss(timed)
            if self.adapter.optimizer:
                self.release()
                steps.check(self, timed)
            if self.adapter.optimizer in OPTIMIZERS:
                self.check_optimizer()
        if self.adapter.case.precision == "f32":  # in other precisions, `hold_to_float32` does this
            self.release()
            stressed.check(self.adapter, self.data, self.expected, self.findings)
        if timed.late and self.adapter.optimizer:
            # Last: most mistakes of a stack show there too, and a row has room for few reasons.
            fresh = self.expected.largest_gradient if self.expected else 0.0
            timed.late.judge(self.findings, self.adapter.optimizer, fresh)
            self.findings.fresh_seconds.append(timed.late.seconds)
        return self.findings

    def release(self) -> None:
        """Gives freed memory back, where it is enough to matter: to collect garbage among all objects of a framework
        takes a tenth of a second each time."""
        tensors = self.data.parameters | self.data.buffers | self.data.batch
        if sum(tensor.nbytes for tensor in tensors.values()) >= MUCH_BYTES:
            process_memory.release()

    def check_reading(self, timed: TimedEvidence) -> None:
        """Checks the results of fresh weights: the output, and in the train pass the loss and every gradient."""
        adapter, findings, expected = self.adapter, self.findings, self.expected
        self.check_types(timed)
        if self.data.workload.has_step:
            return  # only whole steps can be read
        state, batch = self.data.place(adapter, moments=False)
        output, findings.wider = adapter.watched(lambda: adapter.read("output", state, batch))
        read = self.data.compared(output.get("output", ()))
        self.compare_outputs("forward", read, None if expected is None else expected.outputs)
        if not adapter.train and timed.result is not None:
            against = read if expected is None else expected.outputs
            self.findings.hold_all("last timed {}", self.data.compared(timed.result), against)
        if not adapter.train:
            self.check_draws("output", read)
            return
        read = adapter.read("gradients", state, batch)
        if findings.same_names("loss and gradients", read, ["loss", *self.data.parameters]):
            loss = None if expected is None else np.asarray(expected.losses[0])
            findings.compare("loss", "loss", read["loss"], loss)
            gradients = {name: read[name] for name in self.data.parameters}
            by_dialects = self.is_question and (expected is None or not expected.gradients)  # judged by one another
            if by_dialects and self.tolerances.precision == "f32":
                gradients = {name: np.array(gradient) for name, gradient in gradients.items()}  # else overwritten
                findings.kinks = kinks.find(adapter, self.data, gradients)
            noise = noise_of(gradients)
            for name, gradient in gradients.items():
                self.check_gradient(name, gradient, is_noise=name in noise and bool(noise[name].all()))
            if expected is None and adapter.optimizer in protocol.ADAMW:
                self.noise = noise
            self.check_draws("gradients", {"loss": np.asarray(read["loss"])})

    def check_draws(self, what: str, read: dict[str, Array]) -> None:
        """Where a question's results are wrong, finds out whether two calls with the same inputs give different ones,
        as those that draw random numbers do."""
        if not (self.findings.reasons and self.is_question):
            return
        fresh = self.data.place(self.adapter, moments=False)  # a function may change its inputs in place
        found = self.adapter.read(what, *fresh)
        again = self.data.compared(found.get("output", ())) if what == "output" else found
        apart = {name: difference(again[name], value, name) for name, value in read.items()}
        self.findings.draws = any(bool(self.tolerances.of(name).broken(each)) for name, each in apart.items())

    def check_inputs(self, batch: Any) -> None:
        """Checks that the timed calls have left the batch as it was: a function that changes an input in place
        computes something else in each call."""
        for name, wanted in generate_all(self.data.batch, "batch", self.data.seed):
            if name in batch and not np.array_equal(
                self.adapter.unchanged(name, batch[name]), wanted, equal_nan=wanted.dtype.kind in "fc"
            ):
                self.findings.refuse(f"input {name} was changed in place, so each call computed something else")

    def check_types(self, timed: TimedEvidence) -> None:
        """Checks that floating-point results have the width of the widest floating-point input: a result of another
        width is another computation. Whole numbers have a framework's own width, which is shown."""
        declared = [bits(kind) for kind in self.adapter.types.values() if kind in FLOATING]
        if not declared or self.adapter.case.precision != "f32":
            return
        widest = max(declared)
        for name, kind in timed.types.items():
            if kind in FLOATING and bits(kind) != widest:
                self.findings.refuse(f"{label(name)} has the type {kind}, and the inputs have {widest} bits")

    def compare_outputs(self, what: str, read: dict[str, Array], wanted: Any) -> None:
        """Compares the results of fresh weights with the reference; without one, keeps their digests."""
        if self.findings.same_names(f"{what} pass", read, read if wanted is None else wanted):
            for name, value in read.items():
                if wanted is not None or self.is_question:
                    right = value if wanted is None else wanted[name]
                    self.findings.count_odd(f"{what} {name}", right, may_be_all=self.is_question)
                if wanted is None and self.is_question:  # by place and sign: a tolerance would forgive a few
                    signs = np.sign(value) if np.asarray(value).dtype.kind == "f" else 1.0
                    places = np.where(np.isfinite(value), 0.0, np.where(np.isnan(value), 2.0, signs))
                    self.findings.compare(f"{name}{FORM}whole places of NaN and infinity", "", places, None)
                # Other processes compare digests, which have neither kind nor shape: a question's keys have both.
                form = f"{FORM}{kind_of(value)} {np.shape(value)}" if wanted is None and self.is_question else ""
                self.findings.compare(name + form, f"{what} {name}", value, None if wanted is None else wanted[name])

    @property
    def is_question(self) -> bool:
        """Whether the case is one of a question file."""
        return bool(self.adapter.case.implementation)

    def check_gradient(self, name: str, gradient: Any, *, is_noise: bool) -> None:
        """Checks one parameter's gradient. A gradient that is zero up to rounding has no relative error: it must be
        small."""
        what, wanted = f"gradient of {name}", self.wanted("gradients", name)
        if self.expected is not None and self.is_zero(name):
            noise = protocol.ZERO_NOISE[self.tolerances.precision] * self.expected.largest_gradient
            noise *= CANCELLED if hasattr(self.data.spec, "exact") else 1.0
            self.findings.absolute(f"{what}, which is zero", gradient, np.zeros_like(gradient), noise)
            return
        limit = self.tolerances.of(f"gradient/{name}")
        wider = self.with_jumps("gradients", name, gradient, limit)
        if wider is limit:
            self.findings.compare(f"gradient/{name}", what, gradient, wanted)
        else:
            self.findings.judge(what, difference(gradient, wanted, name), wider, counts=False)
        # Rounding to bfloat16 changes a gradient by 1e-3. A digest's tolerance is wider than that where a gradient may
        # jump, so the bits of the elements are checked; noise may have few of them.
        exact = isinstance(wanted, np.ndarray) and is_bfloat16(sample(name, wanted))
        single = self.tolerances.precision == "f32" and self.adapter.types[name] == "float32"
        if single and is_bfloat16(sample(name, gradient)) and not (exact or is_noise):
            self.findings.refuse(f"{what} is rounded to bfloat16")

    def check_last_loss(self, timed: TimedEvidence) -> None:
        """Checks that the last timed loss is under the first, because all steps train on one batch (a file's own
        optimizer may take steps that are too long for that); without an optimizer, that all losses are right."""
        if not timed.losses:
            return  # the step that `hold_to_float32` builds is never timed
        losses, last = timed.losses, None if timed.result is None else float(timed.result)
        if not self.adapter.optimizer:
            wanted = losses[0] if self.expected is None else self.expected.losses[0]
            for step, loss in enumerate(losses, 1):
                self.findings.relative(f"loss of timed step {step}", loss, wanted)
            if last is not None:
                self.findings.relative("last timed loss", last, wanted)
        elif self.adapter.optimizer in OPTIMIZERS and last is not None and not last < losses[0]:
            self.findings.refuse(f"the last timed loss, {last!r}, isn't under the first, {losses[0]!r}")

    def check_optimizer(self) -> None:
        """Checks the optimizer alone: injected gradients from 1 down to 1e-11 and 0, both signs."""
        count = INJECTED[0] * INJECTED[1]
        magnitudes = np.logspace(0, -11, count)
        magnitudes[::7] = 0.0
        g = (magnitudes * np.where(np.arange(count) % 2, 1.0, -1.0)).reshape(INJECTED).astype(np.float32)
        # Weights of an ordinary size: the float32 rounding of a weight near 1 alone is a third of the tolerance.
        p = np.linspace(-0.25, 0.25, count).reshape(INJECTED).astype(np.float32)
        # Equal gradients in all steps would hide the betas, because the bias correction cancels them.
        injected = [{"p": g * np.float32(scale)} for scale in (1.0, -0.5, 0.25)]
        optimizer = OPTIMIZERS[str(self.adapter.optimizer)]({"p": p.astype(np.float64)})
        for gradients in injected:
            optimizer.step({"p": gradients["p"].astype(np.float64)})
        what, after = "optimizer with injected gradients", self.adapter.update({"p": p}, injected)
        if self.findings.same_names(what, after, optimizer.parameters):
            self.findings.absolute(what, after["p"], optimizer.parameters["p"], protocol.OPTIMIZER_TOLERANCE)


def bits(kind: str) -> int:
    """Returns the bits of a floating-point number, or of a complex one's part."""
    return 8 * itemsize(kind) // (2 if kind in COMPLEX else 1)


def label(name: str) -> str:
    """Returns what a leaf of the results is called."""
    return f"output/{name}" if name else "output"


def noise_of(gradients: dict[str, Array]) -> dict[str, Any]:
    """Returns masks of the elements whose gradient is zero up to rounding, for small tensors."""
    largest = max((float(np.abs(g).max(initial=0.0)) for g in gradients.values()), default=0.0)
    small = {name: g for name, g in gradients.items() if g.size <= WHOLE_MAX}
    return {name: np.abs(g) < protocol.ZERO_GRADIENT * largest for name, g in small.items()}
