"""The gate's checks of whole steps of training: their losses, and what they write into parameters and buffers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from suite import protocol
from suite.reference.digests import Array, difference, digest
from suite.reference.expected import moved_key, movement, shrinkage
from suite.reference.tolerances import Tolerance
from suite.stacks.observed import Batch, State
from suite.worker.equivalence.comparison import Comparison, TimedEvidence
from suite.worker.equivalence.witness import DECAY, ROUNDINGS, Witness


def check(held: Comparison, timed: TimedEvidence) -> None:
    """Checks three whole steps: their losses, the losses of the timed steps, and what the steps write."""
    adapter, findings = held.adapter, held.findings
    state, batch = held.data.place(adapter)
    first: dict[str, Array] = {}
    for step in range(protocol.GATE_STEPS):
        state, outputs = adapter.step(state, batch)
        adapter.wait(state, outputs)
        if step == 0 and held.data.workload.has_model and held.data.buffers:
            read = adapter.read("parameters", state, batch)
            first = {name: np.array(read[name]) for name in held.data.buffers}
        loss = float(adapter.results(outputs))
        check_loss(held, step, loss, timed.losses[step : step + 1])
    read = adapter.read("parameters", state, batch)
    if not findings.same_names("parameters", read, held.data.parameters | held.data.buffers):
        return
    for name, before in held.data.values():
        if findings.same_shape(f"{name} after {protocol.GATE_STEPS} steps", read[name], before):
            check_movement(held, name, before, read[name], timed.witness, first.get(name))
    if timed.witness and held.asks_decay:
        timed.witness.close(findings)
    check_curve(held, state, batch)


def check_loss(held: Comparison, step: int, loss: float, timed: Sequence[float]) -> None:
    """Checks the loss of a step, and that of the timed one, if it is known."""
    known, key, number = held.wanted("losses", step), f"loss {step + 1}", step + 1
    limit = held.tolerances.of(key)
    farthest = loss if known is None else max([loss, *timed], key=lambda each: abs(each - known))
    wider = held.with_jumps("losses", step, np.asarray(farthest), of_first(held, limit, known))
    if wider is limit:
        held.findings.compare(held.of_optimizer(key) if step else key, f"loss of step {number}", loss, known)
        for each in timed:
            held.findings.relative(f"loss of timed step {number}", each, loss if known is None else known)
        return
    for what, each in ((f"loss of step {number}", loss), *((f"loss of timed step {number}", each) for each in timed)):
        held.findings.judge(what, difference(np.asarray(each), known, what), wider, counts=False)


def of_first(held: Comparison, limit: Tolerance, right: float | None) -> Tolerance:
    """Returns the limit of a loss that has fallen: as far from the right one as the first loss may be. A model that has
    its batch by heart in two steps has a loss near zero, whose last digits are roundings of logits that are no smaller
    than at first."""
    first = held.wanted("losses", 0)
    if right is None or abs(first) <= abs(right):
        return limit
    return Tolerance(limit.error * float(abs(first)) / (abs(right) or 1.0))


def check_curve(held: Comparison, state: State, batch: Batch) -> None:
    """Checks the losses of further steps, as a curve: what three steps of a file's own optimizer don't show, such as a
    schedule or a moment that isn't kept, its curve does. Roundings grow from step to step, so its band is wide."""
    curve = held.expected.curve if held.expected else []
    for place, right in enumerate(curve):
        state, outputs = held.adapter.step(state, batch)
        held.adapter.wait(state, outputs)
        loss, what = np.asarray(float(held.adapter.results(outputs))), f"loss of step {protocol.GATE_STEPS + 1 + place}"
        limit = held.with_jumps("curve", place, loss, Tolerance(protocol.CURVE_TOLERANCE))
        held.findings.judge(what, difference(loss, np.asarray(right), what), limit, counts=False)


def check_movement(
    held: Comparison, name: str, before: Array, after: Array, witness: Witness | None, first: Array | None
) -> None:
    """Checks what the replayed and the timed steps have written into one parameter or buffer. Of a model's buffer
    the `first` step counts: in later ones it follows parameters that rounding alone has moved, such as a bias
    before a batch norm."""
    trained, noise = name in held.data.parameters, held.noise.get(name)
    if trained and held.adapter.optimizer in protocol.ADAMW:
        check_bound(held, name, before, after)
    if trained and held.is_zero(name):
        return
    key = held.of_optimizer(moved_key(name, trained)) if held.expected is None else moved_key(name, trained)
    counted = before.size - (0 if noise is None else int(noise.sum()))
    limit = held.tolerances.moved(max(1, counted)) if trained else held.tolerances.of(key)
    moved = movement(before, after if first is None else first, noise)
    rounding = ROUNDINGS * float(np.linalg.norm(before))
    wanted = held.wanted("moved", name)
    if wanted is not None:
        what = f"movement of {name} in {protocol.GATE_STEPS} steps"
        error = difference(moved, wanted, key, rounding)
        held.findings.judge(what, error, held.with_jumps("moved", name, moved, limit), counts=False)
        if trained and held.asks_decay:
            check_decay(held, name, before, moved, error.error)
    elif noise is None or not noise.any():
        held.findings.digests[key] = digest(moved, key)
    if witness:
        replayed = limit.error if first is None else held.tolerances.moved().error
        witness.testify(held.findings, name, before, after, noise, min(replayed, protocol.REPLAY_TOLERANCE_MAX))


def check_bound(held: Comparison, name: str, before: Array, after: Array) -> None:
    """Checks that elements whose true gradient is zero moved no further than AdamW can move them. Where they end
    depends on rounding, so nothing more can be checked."""
    bound = 1.1 * protocol.LEARNING_RATE * protocol.GATE_STEPS + DECAY * float(np.abs(before).max(initial=0.0))
    noise = held.noise.get(name)
    zero = slice(None) if held.is_zero(name) else noise
    if zero is not None:
        over = np.maximum(np.abs(movement(before, after)[zero]) - bound, 0.0)
        held.findings.absolute(f"{name} where its gradient is zero", over, np.zeros_like(over), 0.0)


def check_decay(held: Comparison, name: str, before: Array, moved: Array, error: float) -> None:
    """Checks by which part of itself a parameter shrank, against the reference. The rest of the movement's error
    points in no particular direction: six standard deviations of its chance part are allowed."""
    assert held.expected is not None
    length = float(np.linalg.norm(before)) or 1.0
    chance = 6.0 * error * float(np.linalg.norm(moved)) / (length * float(np.sqrt(before.size)))
    lost, wanted = shrinkage(before, moved), held.expected.shrunk[name]
    if not abs(lost - wanted) <= 0.3 * DECAY + chance:
        held.findings.refuse(
            f"{name} shrank by {lost:.2g} of itself in {protocol.GATE_STEPS} steps, the reference by "
            f"{wanted:.2g} (weight decay takes {DECAY:.0e})"
        )
