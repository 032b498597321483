"""Explains MKL's default path, which its name doesn't show to be slow: a likely cause, and how to test it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from suite.answers.sentences import listed
from suite.case import Case
from suite.errors import COMMAND
from suite.page.map.remedies import options, options_of
from suite.page.sections.labels import link_target
from suite.page.sections.mkl_record import measured, slowed
from suite.results.analysis import Analysis, Comparison
from suite.sets.plan import PlanFile
from suite.stacks.torch.mkl_path import KNOB

INTEL, AMD = "GenuineIntel", "AuthenticAMD"  # vendors, by Linux's names; the tuned track's knob acts on AMD's alone
TUNED = "tuned"


@dataclass(frozen=True, slots=True)
class MklNote:
    """The note on one question. `short` says in a few words what the path may have to do with the question's ratios;
    `first` says so beside the first sentence. `command` tests it; empty if the set did, or if no command can. `trial`
    says what the command runs, and how the tuned track changes MKL's path."""

    anchor: str
    text: str
    short: str
    first: str
    command: str
    trial: str


def mkl_note(
    comparison: Comparison, analysis: Analysis, machine: Mapping[str, Any], file: PlanFile | None = None
) -> MklNote | None:
    """Returns the note on a question; None if MKL's default path was recorded of no stack, or if the set doesn't say
    that its processor is an x86-64 and not Intel's. `file` says how the set was made, for the command."""
    vendor, is_arm = machine.get("cpu_vendor"), str(machine.get("platform")).endswith("aarch64")
    found = slowed(comparison, analysis, machine) if vendor not in (None, "", INTEL) and not is_arm else {}
    if not found:
        return None
    although = ", although it has AVX-512" if "avx512f" in (machine.get("cpu_flags") or ()) else ""
    names, calling = listed([*found]), "calls" if len(found) == 1 else "call"
    wheres = [*dict.fromkeys(filter(None, found.values()))]
    products = f"for products of matrices (recorded on {listed(wheres)})" if wheres else "here"
    pairs = [stack.partition("@") for stack in found]
    cases = [replace(comparison.head.case, stack=a, variant=b, implementation="", track=TUNED) for a, _, b in pairs]
    case, seen = cases[0], next(filter(None, (measured(each, analysis, machine) for each in cases)), "")
    asked = bool(comparison.head["implementation"])  # a question of a file, which may have no products
    testable = not seen and vendor == AMD and not asked
    trial = "tested on the tuned track" if seen else "not tested in this set"
    limit = "as far as a step multiplies matrices"
    slower = f"likely makes {names} slower {limit if wheres else 'here'}"
    return MklNote(
        anchor=link_target("k", comparison.name, comparison.id),
        text=f"MKL, which {names} {calling} {products}, takes its default path on every processor that isn't Intel's, "
        f"and this is {machine.get('cpu_model')}. On this path it uses at most AVX2 on this processor{although}. "
        f"That {slower}; it is {trial}{f': {seen}' if seen else ''}.",
        short=f"{slower} ({trial}{'; a command there tests it' if testable else ''})",
        first=f"MKL's default path on this {'AMD processor' if vendor == AMD else 'processor'} likely slows {names}"
        f"{f' {limit}' if asked and wheres else ''}"
        f"{f'; {seen}' if seen else '; a faster one may reverse the ranking' if vendor == AMD else ''}.",
        command=trial_command(case, len(analysis.blocks), file) if testable else "",
        trial=trial_words(case) if testable else "",
    )


def trial_command(case: Case, blocks: int, file: PlanFile | None) -> str:
    """Returns the command that runs a case of the tuned track beside the same case of the default track, with the
    settings of the set."""
    chosen = [f"--stack={case.stack_name}", f"--baseline={case.stack_name}", *options(case, blocks)]
    chosen.insert(chosen.index(f"--track={TUNED}"), "--track=default")
    return shlex.join([COMMAND, "run", *chosen, *(options_of(file) if file else ())])


def trial_words(case: Case) -> str:
    stack = case.stack_name
    return (
        f"To test it, the command below runs {stack} alone on this question, on both tracks. The tuned track has all "
        f"of {stack}'s documented knobs. The one for MKL replaces its function {KNOB.name}, so that MKL takes its path "
        f"for Intel's processors; this needs a C compiler. Then {COMMAND} compare SET --by=track compares the two."
    )
