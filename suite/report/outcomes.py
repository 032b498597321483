"""What did not end `ok`, with its reason; and the matrix of workloads by stacks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from suite.report.rows import NOT_RUN, Row, flag_counts

# The word that a reader acts on first stands for a cell whose processes ended differently.
SEVERITY = ("wrong", "crashed", "error", "oom_device", "oom_host", "oom_compile", "timeout", NOT_RUN,
            "unsupported", "ok")  # fmt: skip
WORDS = {
    "ok": "fits",
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


@dataclass(frozen=True, slots=True)
class Failure:
    """Processes of one case that ended alike: same outcome, phase and reason. `where` names them."""

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


@dataclass(frozen=True, slots=True)
class Cell:
    """One workload on one stack: the gravest outcome of its processes and how many were `ok`."""

    stack: str
    outcome: str
    phase: str
    ok: int
    total: int

    @property
    def text(self) -> str:
        """`fits`, `timeout in first`, `wrong result 1/3`."""
        where = f" in {self.phase}" if self.phase and self.outcome not in ("ok", "unsupported", "wrong") else ""
        share = f" {self.total - self.ok}/{self.total}" if 0 < self.ok < self.total else ""
        return f"{WORDS.get(self.outcome, self.outcome)}{where}{share}"


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """One comparison across all stacks of the set; None where the stack was not planned."""

    name: str
    anchor: str
    cells: tuple[Cell | None, ...]


def gravest(outcomes: Iterable[str]) -> str:
    """The outcome that stands for several processes."""
    known = set(outcomes)
    return next((o for o in SEVERITY if o in known), next(iter(sorted(known)), NOT_RUN))


def cell(stack: str, rows: Sequence[Row]) -> Cell:
    """The summary of one case's processes."""
    worst = gravest(r.outcome for r in rows)
    phase = next((r.text("phase") for r in rows if r.outcome == worst), "")
    return Cell(stack, worst, phase, sum(r.outcome == "ok" for r in rows), len(rows))


def failures(rows: Iterable[Row], names: dict[str, str]) -> tuple[Failure, ...]:
    """Every row that is not `ok`, those that ended alike together. `names` gives a comparison_id's name."""
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        if row.outcome != "ok":
            key = (
                row.text("case_id"),
                row.text("purpose"),
                row.outcome,
                row.text("phase"),
                row.text("reason"),
            )
            groups.setdefault(key, []).append(row)
    made = [_failure(group, names) for group in groups.values()]
    return tuple(sorted(made, key=lambda f: (f.comparison, SEVERITY.index(f.outcome), f.stack, f.blocks)))


def _failure(rows: Sequence[Row], names: dict[str, str]) -> Failure:
    last = max(rows, key=lambda r: (r.integer("block"), r.integer("replicate"), r.integer("retry")))
    code, signal = last.number("exit_code"), last.number("signal")
    ends = [f"exit code {code:.0f}"] if code is not None else []
    ends += [f"signal {signal:.0f}"] if signal else []
    return Failure(
        comparison=names.get(last.text("comparison_id"), "") or last.text("case_name"),
        stack=last.stack,
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
        blocks=tuple(sorted({r.integer("block") for r in rows})),
        processes=len(rows),
    )
