"""Steps that change no state must be computed anew: on other values, and with other weights. A result that a stack has
cached, or folded into its program as a constant, would be that of the earlier values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from suite.reference.findings import GateFindings
from suite.stacks.base import Adapter
from suite.worker.data import Data
from suite.worker.equivalence import checked_step
from suite.workloads import trees
from suite.workloads.tensors import COMPLEX, FLOATS, Integers, Normal, PositiveDefinite, Uniform

if TYPE_CHECKING:
    from suite.worker.equivalence.comparison import TimedEvidence

DRAWN = Normal | Uniform | PositiveDefinite  # kinds of tensors of which no two seeds have the same values
CALLS = 4  # steps on other values, of which the last result is checked


def check(adapter: Adapter, data: Data, timed: TimedEvidence, findings: GateFindings) -> None:
    """Checks the last result on other values, and then one on the timed batch again with other weights."""
    other = Data(adapter.case, adapter.workload, data.seed + 1)
    state, batch = other.place(adapter, moments=False)
    batches = [("other values", other, batch)]
    if timed.witness and timed.witness.batch:
        batches.append(("the timed batch and other weights", data, timed.witness.batch))
    answers = []
    with timed.alone():
        state, result, seconds = stepped(adapter, state, batch, CALLS)
        findings.fresh_seconds.append(seconds)
        for _, of, values in batches:
            state, actual, seconds = stepped(adapter, state, values, 1)
            answers.append(actual)
            findings.fresh_seconds += [seconds] if of is data else []
    is_known = hasattr(other.spec, "reference") or hasattr(other.spec, "exact")
    expected = other.expected() if is_known else None
    if expected is not None:
        right = {"loss": np.asarray(expected.losses[0])} if adapter.train else expected.outputs
        findings.hold_all("{} of other values", other.results(adapter, result), right)
    kind, key = ("gradients", "loss") if adapter.train else ("output", "output")
    for (what, of, values), actual in zip(batches, answers, strict=True):
        read = of.results(adapter, adapter.read(kind, state, values)[key])
        findings.hold_all(f"{{}} of {what}, read", of.results(adapter, actual), read)
    if timed.result is not None and must_change(data, timed) and same(timed.result, result):
        findings.refuse(f"{key} of other values: it equals the timed one")
    drawn = any(isinstance(tensor, DRAWN | Integers) for tensor in data.batch.values())
    if drawn and not adapter.case.implementation and len(answers) > 1 and same(*answers):
        findings.refuse(f"{key} of the timed batch and other weights: it equals that of the other batch")


def must_change(data: Data, timed: TimedEvidence) -> bool:
    """Whether other inputs must give another result: some are drawn, and some result is a finite floating-point one."""
    if not any(np.isfinite(leaf).any() for _, leaf in trees.leaves(timed.result)):
        return False
    drawn = any(isinstance(tensor, DRAWN) for tensor in (data.batch | data.parameters).values())
    return drawn and any(kind in (*FLOATS, *COMPLEX) for kind in timed.types.values())


def stepped(adapter: Adapter, state: Any, batch: Any, calls: int) -> tuple[Any, Any, float]:
    """Takes steps that don't change the state's values, though they may return them in other arrays. Returns the state,
    the last result, and the seconds of the first step."""
    state, result, seconds = checked_step.take(adapter, state, batch)
    for _ in range(calls - 1):
        state, result, _ = checked_step.take(adapter, state, batch)
    return state, result, seconds


def same(one: Any, other: Any) -> bool:
    leaves = [[np.asarray(leaf) for _, leaf in trees.leaves(tree)] for tree in (one, other)]
    if len(leaves[0]) != len(leaves[1]):
        return False
    return all(np.array_equal(a, b, equal_nan=a.dtype.kind in "fc") for a, b in zip(*leaves, strict=True))
