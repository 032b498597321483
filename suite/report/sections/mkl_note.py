"""Explains MKL's default path, which its name doesn't show to be slow: a likely cause, and how to test it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from suite.case import Case
from suite.errors import COMMAND
from suite.report.map.remedies import options
from suite.report.sections.labels import link_target
from suite.report.sections.sentences import listed
from suite.results.analysis import Analysis, Comparison
from suite.stacks.kernels import MKL_DEFAULT

INTEL, AMD = "GenuineIntel", "AuthenticAMD"  # vendors, by Linux's names; the tuned track's knob acts on AMD's alone
TUNED = "tuned"


@dataclass(frozen=True, slots=True)
class MklNote:
    """The note on one question. `stacks` are those whose calls of MKL took its default path, in words, and `short` says
    in a few words what that may have to do with the question's ratios. `command` tests it; empty if the set did, or if
    no command can."""

    anchor: str
    stacks: str
    text: str
    short: str
    command: str


def mkl_note(comparison: Comparison, analysis: Analysis, machine: Mapping[str, Any]) -> MklNote | None:
    """Returns the note on a question; None if no stack's kernels name MKL's default path, or if the set doesn't say
    that its processor isn't Intel's."""
    slowed = [stack.stack for stack in comparison.stacks if f"MKL {MKL_DEFAULT}" in stack.kernels]
    vendor = machine.get("cpu_vendor")
    if not slowed or vendor in (None, "", INTEL):
        return None
    although = ", although it has AVX-512" if "avx512f" in (machine.get("cpu_flags") or ()) else ""
    names, calling = listed(slowed), "calls" if len(slowed) == 1 else "call"
    stack, _, variant = slowed[0].partition("@")
    case = replace(comparison.head.case, stack=stack, variant=variant, track=TUNED)
    tuned = next((other for other in analysis.comparisons if other.id == case.comparison_id), None)
    tested = bool(tuned and any((figures := tuned.of(stack)) and figures.counts for stack in slowed))
    trial = "tested by this set's cases of --track=tuned" if tested else "not tested in this set"
    cause = f"That likely makes {names} slower here; it is {trial}."
    return MklNote(
        anchor=link_target("k", comparison.name, comparison.id),
        stacks=names,
        text=f"MKL, which {names} {calling} here, takes its default path on every processor that isn't Intel's, and "
        f"this is {machine.get('cpu_model')}. On this path it uses at most AVX2 on this processor{although}. {cause}",
        short=f"likely makes {names} slower here ({trial})",
        command="" if tested or vendor != AMD else trial_command(case, len(analysis.blocks)),
    )


def trial_command(case: Case, blocks: int) -> str:
    """Returns the command that runs a case of the tuned track beside the same case of the default track."""
    chosen = [("stack", case.stack_name), *options(case, blocks), ("track", "default")]
    return " ".join([f"{COMMAND} run", *(f"--{name}={shlex.quote(value)}" for name, value in chosen)])
