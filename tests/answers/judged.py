"""What the checks of a device find in rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from suite.answers.device_checks import Check, Judge
from suite.results import Results
from suite.sets.rows import Row
from tests.results.rows import attempt_of, row_of


def found(judge: Judge, *rows: Row, **machine: Any) -> dict[str, Check]:
    checked: Iterator[Check] = judge(Results(Path("a-set"), None, list(rows), [], machine))
    return {check.name: check for check in checked}


def verdicts(judge: Judge, *rows: Row) -> dict[str, bool | None]:
    return {name: check.ok for name, check in found(judge, *rows).items()}


def timed(stack: str = "jax_jit", seconds: float | Sequence[float] = 0.02, block: int = 1, **columns: Any) -> Row:
    case = {name: columns.pop(name) for name in ("target", "device", "precision", "pass_", "dims") if name in columns}
    return row_of(attempt_of(stack, block=block, **case), seconds, tolerance=5e-6, **columns)
