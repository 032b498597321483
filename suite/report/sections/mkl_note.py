"""Explains why MKL took its default path: the name alone doesn't tell a reader that it is the slow one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from suite.report.sections.sentences import listed
from suite.results.stack_figures import StackFigures
from suite.stacks.kernels import MKL_DEFAULT

INTEL, AMD = "GenuineIntel", "AuthenticAMD"  # vendors, by Linux's names; the tuned track's knob acts on AMD's alone


def mkl_note(stacks: Sequence[StackFigures], machine: Mapping[str, Any]) -> str:
    """Returns a sentence on the stacks whose calls of MKL took its default path, and why; empty if none did, or if the
    set doesn't say that its processor isn't Intel's."""
    slowed = [stack.stack for stack in stacks if f"MKL {MKL_DEFAULT}" in stack.kernels]
    vendor = machine.get("cpu_vendor")
    if not slowed or vendor in (None, "", INTEL):
        return ""
    although = ", although it has AVX-512" if "avx512f" in (machine.get("cpu_flags") or ()) else ""
    calling = f"{listed(slowed)} {'calls' if len(slowed) == 1 else 'call'}"
    trial = " Cases of --track=tuned take MKL's path for Intel's processors: they show what that costs."
    return (
        f"MKL, which {calling} here, uses at most AVX2 on this processor{although}: "
        f"it takes its default path on every processor that isn't Intel's, and this is {machine.get('cpu_model')}."
        f"{trial if vendor == AMD else ''}"
    )
