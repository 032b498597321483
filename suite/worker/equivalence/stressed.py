"""Stressed weights: values on which numerically bad formulas fail.

Weights and inputs of unit variance don't show a softmax that doesn't subtract its maximum, a log(sum(exp)) that is
computed as written, a variance computed as E[x^2] - E[x]^2, or another epsilon. A spec's `STRESSED` changes some
weights so that these show: exponentials overflow float32, and the inputs of a norm are far from zero, or as small as
its epsilon. The check calls the functions that were timed.

XLA's own batch norm is such a bad formula, and some frameworks lower their norms to it; others have kernels that lose
digits elsewhere. A model's author can't change that. So the adapter says so (`is_unstable`), and the row is flagged,
not wrong.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from suite.reference.digests import Array, Digest, difference, digest
from suite.reference.expected import ReferenceAnswer, movement, named
from suite.reference.findings import GateFindings
from suite.stacks.base import Adapter
from suite.worker.data import Data
from suite.workloads.tensors import generate_all


def check(adapter: Adapter, data: Data, expected: ReferenceAnswer | None, findings: GateFindings) -> None:
    """Checks the results of stressed weights, if the spec has any: the output and, in the train pass, the loss of one
    step and what that step adds to the buffers. Without a reference, `findings` get digests of the results."""
    if not data.stressed:
        return
    if adapter.is_unstable():
        apart = GateFindings(findings.tolerances)
        compare(adapter, data, expected, apart)
        findings.unstable += apart.reasons
    else:
        compare(adapter, data, expected, findings)


def compare(adapter: Adapter, data: Data, expected: ReferenceAnswer | None, findings: GateFindings) -> None:
    wanted = None if expected is None else expected.stressed
    stressed = Data(adapter.case, adapter.workload, data.seed, under_stress=True)
    state, batch = stressed.place(adapter)
    for name, value in named(adapter.read("output", state, batch)["output"]).items():
        hold(findings, name, value, wanted)
    if not adapter.train:
        return
    state, outputs = adapter.step(state, batch)
    adapter.wait(state, outputs)
    hold(findings, "loss", adapter.results(outputs), wanted)
    if stressed.buffers:
        after = adapter.read("parameters", state, batch)
        for name, before in generate_all(stressed.buffers, "parameter", stressed.seed):
            hold(findings, f"buffer/{name}", movement(before, after[name]), wanted)


def hold(findings: GateFindings, name: str, actual: Array, wanted: Mapping[str, Array | Digest] | None) -> None:
    """Compares a tensor with its reference, or keeps its digest. The row's error leaves it out, because with stressed
    weights correct stacks, too, differ by more."""
    key, what = f"stressed/{name}", f"{name} with stressed weights"
    if wanted is None:
        findings.digests[key] = digest(np.asarray(actual), key)
    elif isinstance(wanted[name], Digest) or findings.same_shape(what, actual, np.asarray(wanted[name])):
        findings.judge(what, difference(actual, wanted[name], key), findings.tolerances.of(key), counts=False)
