"""Sums up how the processes of one case ended."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from suite.case import Outcome, phase_words
from suite.sets.rows import IMPLAUSIBLE, NOT_RUN, Row, accepted

if TYPE_CHECKING:
    from suite.results.case_row import CaseRow

# If processes ended differently, the first of these outcomes stands for all: readers act on it first. Unsupported comes
# before not run, because a case that is unsupported in one block is so in all.
SEVERITY = (
    Outcome.WRONG,
    Outcome.DIFFER,
    IMPLAUSIBLE,
    Outcome.CRASHED,
    Outcome.ERROR,
    Outcome.OOM_DEVICE,
    Outcome.OOM_HOST,
    Outcome.OOM_COMPILE,
    Outcome.TIMEOUT,
    Outcome.UNSUPPORTED,
    NOT_RUN,
    Outcome.OK,
)

FAILED, NOTHING_MEASURED, INTERRUPTED = 3, 4, 130  # exit codes of a run
# Words in those reasons for `unsupported` that are about the machine, not the stack (suite/run/start/engines.py).
LACKING = (
    "there is no lock for environment",
    "isn't on this machine",
    "no C++ compiler",
    "no NVIDIA GPU was found",
    "this machine has an NVIDIA GPU, but",
    "no TPU was found",
    "Docker has no NVIDIA runtime",
)


WORDS = {
    "ok": "ok",
    "oom_host": "out of host memory",
    "oom_device": "out of device memory",
    "oom_compile": "out of memory compiling",
    "timeout": "timeout",
    "unsupported": "unsupported",
    "wrong": "wrong result",
    "differ": "results differ",
    "error": "error",
    "crashed": "crashed",
    NOT_RUN: "not run",
    IMPLAUSIBLE: "implausible",
}
WITHOUT_PHASE = ("ok", "unsupported", "wrong", "differ", IMPLAUSIBLE)  # outcomes whose phase says nothing


def outcome_words(outcome: str, phase: str) -> str:
    """Returns `out of host memory in the first run`; without the phase where it says nothing."""
    words = WORDS.get(outcome, outcome)
    return f"{words} {phase_words(phase)}" if phase and outcome not in WITHOUT_PHASE else words


def outcome_text(case: CaseRow) -> str:
    """Returns `ok` or `timeout in the first run`; if other processes ended ok, `wrong result, 1 of 3`."""
    share = f", {case.planned - case.ok} of {case.planned}" if 0 < case.ok < case.planned else ""
    return f"{outcome_words(case.outcome, case.phase)}{share}"


def gravest(outcomes: Iterable[str]) -> str:
    """Returns the outcome that stands for several processes, by `SEVERITY`."""
    seen = set(outcomes)
    return str(next((word for word in SEVERITY if word in seen), min(seen, default=NOT_RUN)))


def is_absent(reason: str) -> bool:
    """Whether this reason for `unsupported` says that the machine lacks something: another machine may run the case."""
    return any(words in reason for words in LACKING)


def flag_counts(rows: Sequence[Row]) -> tuple[tuple[str, str], ...]:
    """Returns (flag, share of the rows that have it, as `2/5`); the share is empty where all rows have it."""
    names = sorted({flag for row in rows for flag in row.flags})
    counts = {name: sum(name in row.flags for row in rows) for name in names}
    return tuple((name, "" if count == len(rows) else f"{count}/{len(rows)}") for name, count in counts.items())


FAILURES = (Outcome.ERROR, Outcome.CRASHED, Outcome.WRONG, Outcome.DIFFER)  # outcomes that make the exit code `FAILED`


def exit_code(rows: Iterable[Row]) -> int:
    """Returns 3 if some accepted row ended in one of `FAILURES`, 4 if nothing was measured, else 0."""
    outcomes = {row["outcome"] for row in accepted(rows)}
    if outcomes & {*FAILURES}:
        return FAILED
    return 0 if outcomes - {Outcome.UNSUPPORTED} else NOTHING_MEASURED
