"""The tuned track: what a stack may set beyond what a competent user writes. Each adapter lists its own, with reasons.

docs/methodology.md has the same list for readers. Standard library only.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from suite.case import Case
from suite.workloads.catalog import Workload


@dataclass(frozen=True, slots=True)
class Knob:
    """A documented setting, named as the framework names it, and why it is worth trying."""

    name: str
    reason: str
    targets: tuple[str, ...]
    images: bool = False  # for convolutions: without images it changes nothing


def chosen(knobs: Iterable[Knob], case: Case, workload: Workload) -> frozenset[str]:
    """The names of those that apply to a case; none in the default track."""
    if case.track != "tuned":
        return frozenset()
    images = any(len(tensor.shape) == 4 for tensor in workload.spec.inputs(dict(case.dims)).values())
    return frozenset(knob.name for knob in knobs if case.target in knob.targets and (images or not knob.images))
