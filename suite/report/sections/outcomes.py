"""Outcomes in words: what did not end `ok`, with its reason; and the matrix of questions by stacks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from suite.case import Outcome
from suite.results.outcomes import SEVERITY, Cell, flag_counts
from suite.results.store.rows import NOT_RUN, Row

WORDS = {
    "ok": "ok",
    "oom_host": "out of host memory",
    "oom_device": "out of device memory",
    "oom_compile": "out of memory compiling",
    "timeout": "timeout",
    "unsupported": "unsupported",
    "wrong": "wrong result",
    "error": "error",
    "crashed": "crashed",
    NOT_RUN: "not run",
}
WITHOUT_PHASE = ("ok", "unsupported", "wrong")  # whose phase says nothing


@dataclass(frozen=True, slots=True)
class Failure:
    """Processes of one case that ended alike: same outcome, phase and reason. `blocks` says which."""

    comparison: str
    stack: str
    purpose: str
    outcome: str
    phase: str
    reason: str
    exception_type: str
    message: str
    exit: str
    stderr_tail: str
    provenance: str
    flags: tuple[tuple[str, str], ...]
    blocks: tuple[int, ...]
    processes: int
    log: str  # in the set's folder, where the process was run; empty where none was


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """One comparison across all stacks of the set; None where the stack was not planned."""

    name: str
    anchor: str
    cells: tuple[Cell | None, ...]


def outcome_text(cell: Cell) -> str:
    """`ok`, `timeout in first`, `wrong result 1/3`."""
    where = f" in {cell.phase}" if cell.phase and cell.outcome not in WITHOUT_PHASE else ""
    share = f" {cell.total - cell.ok}/{cell.total}" if 0 < cell.ok < cell.total else ""
    return f"{WORDS.get(cell.outcome, cell.outcome)}{where}{share}"


def failures(rows: Iterable[Row], names: dict[str, str]) -> tuple[Failure, ...]:
    """Every row that is not `ok`, those that ended alike together. `names` gives a comparison_id's name."""
    alike: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        if row.outcome != Outcome.OK:
            shared = ("case_id", "purpose", "outcome", "phase", "reason")
            alike.setdefault(tuple(map(row.text, shared)), []).append(row)
    lines = [failure(group, names) for group in alike.values()]
    return tuple(sorted(lines, key=lambda f: (f.comparison, SEVERITY.index(f.outcome), f.stack, f.blocks)))


def failure(rows: Sequence[Row], names: dict[str, str]) -> Failure:
    """One line for rows that ended alike; the last of them speaks for all."""
    last = max(rows, key=lambda row: (row["block"], row["replicate"], row["retry"]))
    code, signal = last.number("exit_code"), last.number("signal")
    ends = [f"exit code {code:.0f}"] if code is not None else []
    ends += [f"signal {signal:.0f}"] if signal else []
    return Failure(
        comparison=names.get(last["comparison_id"], "") or last.text("case_name"),
        stack=last.stack_name,
        purpose=last.text("purpose"),
        outcome=last.outcome,
        phase=last.text("phase"),
        reason=last.text("reason"),
        exception_type=last.text("exception_type"),
        message=last.text("message"),
        exit=", ".join(ends),
        stderr_tail=last.text("stderr_tail"),
        provenance=last.text("provenance"),
        flags=flag_counts(rows),
        blocks=tuple(sorted({row["block"] for row in rows})),
        processes=len(rows),
        log=f"logs/{last.attempt_name}" if last["provenance"] == "measured" else "",
    )
