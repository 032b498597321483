"""The tuned track: what a stack may set beyond what a competent user writes. Each adapter lists its own, with reasons.

docs/methodology.md has the same list for readers, and tests/stacks/test_knobs_act.py the proof that each of them
changes what is executed. Standard library only.
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
    """A documented setting, named as the framework names it, why it is worth trying, and where it acts."""

    name: str
    reason: str
    targets: tuple[str, ...]
    images: bool = False  # for convolutions: without images it changes nothing
    processor: str = ""  # what a CPU must have, as Linux calls it: without it the setting changes nothing


def chosen(knobs: Iterable[Knob], case: Case, workload: Workload) -> frozenset[str]:
    """The names of those that apply to a case on this machine; none in the default track."""
    if case.track != "tuned":
        return frozenset()
    images = any(len(tensor.shape) == 4 for tensor in workload.spec.inputs(dict(case.dims)).values())
    return frozenset(
        knob.name
        for knob in knobs
        if case.target in knob.targets and (images or not knob.images) and knob.processor in processor_flags()
    )


@functools.cache
def processor_flags() -> frozenset[str]:
    """What this machine's processor has (`avx512f`), and the empty word; no more where Linux doesn't say."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    flags = next((line for line in lines if line.startswith("flags")), "")
    return frozenset(["", *flags.partition(":")[2].split()])
