"""The knobs of the tuned track: documented settings beyond what a competent user writes. Each adapter lists its own.

docs/why/method.md has the same list for readers. tests/stacks/test_knobs_act.py shows that each of them changes what
is executed. Standard library only.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from suite.case import Case
from suite.workloads.catalog import Workload


@dataclass(frozen=True, slots=True)
class Knob:
    """A documented setting: its name in the framework, why it is worth trying, and where it acts."""

    name: str
    reason: str
    targets: tuple[str, ...]
    images: bool = False  # acts only on workloads with images: it is for convolutions
    updates: bool = False  # acts only on steps that update parameters
    products: bool = False  # acts only on steps with matrix products
    weights: bool = False  # acts only on forward passes with weights and further inputs
    processor: str = ""  # acts only on CPUs with this feature or of this vendor, by Linux's names; empty: on all

    def acts_here(self, target: str) -> bool:
        return target in self.targets and self.processor in processor_flags()


# Of several stacks. A program's constants may be folded and packed before its first step.
FROZEN = Knob("frozen_weights", "weights are constants, as in a program that is deployed", ("cpu",), weights=True)


def chosen(knobs: Iterable[Knob], case: Case, workload: Workload) -> frozenset[str]:
    """Returns the names of the knobs that apply to a case on this machine; none in the default track."""
    if case.track != "tuned":
        return frozenset()
    tensors = workload.tensors(dict(case.dims), case.pass_)
    images = any(tensor.images for tensor in tensors.batch.values())
    weights = case.pass_ == "forward" and bool(tensors.parameters and tensors.batch)
    flops = workload.spec.flops(dict(case.dims), case.pass_)
    products = flops is None or flops > 0  # of a question it isn't known
    updates = case.pass_ == "train" and getattr(workload.spec, "OPTIMIZER", None) is not None
    return frozenset(
        knob.name
        for knob in knobs
        if knob.acts_here(case.target)
        and (images or not knob.images)
        and (updates or not knob.updates)
        and (products or not knob.products)
        and (weights or not knob.weights)
    )


@functools.cache
def processor_flags() -> frozenset[str]:
    """Returns the features of this machine's processor (`avx512f`), its vendor (`AuthenticAMD`), and the empty word,
    which stands for any processor. Where Linux doesn't describe the processor, only the empty word."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    described = [next((line for line in lines if line.startswith(name)), "") for name in ("flags", "vendor_id")]
    return frozenset(["", *(word for line in described for word in line.partition(":")[2].split())])
