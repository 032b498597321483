"""What a reader can do about a case: the command that runs it again, and what would help a case that failed."""

from __future__ import annotations

import shlex

from suite.case import CUSTOM, OUT_OF_MEMORY, Case, Outcome, bytes_text, dims_text
from suite.errors import COMMAND
from suite.results.outcomes import Cell, is_absent
from suite.results.store.rows import IMPLAUSIBLE, NOT_RUN

READ_LOG = "Run it alone by the command below, and read its log: the last lines say where it stopped."
REMEDIES = {
    Outcome.TIMEOUT: "More time, by --timeout=1h, say; or a smaller size.",
    Outcome.UNSUPPORTED: "Another stack of the row: this one can't do what was asked.",
    Outcome.WRONG: "No other machine or setting helps: the result is wrong, by the error that the section Equivalence "
    "shows. Please report it to the framework, or to this project.",
    Outcome.ERROR: READ_LOG,
    Outcome.CRASHED: READ_LOG,
    IMPLAUSIBLE: "No other machine or setting helps: the work can't have been done in this time.",
    NOT_RUN: "Complete the set: the notice above says how.",
}


def remedy(cell: Cell, case: Case) -> str:
    """Returns what would help a case that didn't end `ok`; empty for one that did."""
    if cell.outcome in OUT_OF_MEMORY:
        limit = case.limit_memory_bytes
        more = f"a limit over {bytes_text(limit)} (--limit-memory)" if limit else "a machine with more memory"
        return f"A smaller size, or {more}; a run with --purpose=memory finds the largest size."
    if cell.outcome == Outcome.UNSUPPORTED and is_absent(cell.reason):
        return "Another machine may run it; the command doctor says what this one lacks, and how to get it."
    return REMEDIES.get(cell.outcome, "")


def command(case: Case, baseline: str) -> str:
    """Returns the command that runs a case again beside the stack `baseline`, or alone if the case is of that stack."""
    stack = f"{case.stack}@{case.variant}" if case.variant else case.stack
    options = [("workload", case.workload), ("stack", stack)]
    options += [("stack", baseline), ("baseline", baseline)] if baseline != stack else [("baseline", stack)]
    options += [("dims", dims_text(case.dims))] if case.size == CUSTOM else [("size", case.size)]
    options += [("pass", case.pass_), ("precision", case.precision), ("target", case.target)]
    options += [("track", case.track)] if case.track != "default" else []
    options += [("cache", case.cache)] if case.cache != "cold" else []
    options += [("limit-memory", bytes_text(case.limit_memory_bytes))] if case.limit_memory_bytes else []
    return " ".join([COMMAND, "run", *(f"--{name}={shlex.quote(value)}" for name, value in options)])
