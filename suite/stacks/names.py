"""Names of cases and attempts, for people and for files. A bf16 case's name includes its stack's mixed precision."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

from suite.case import Attempt, Case, Purpose
from suite.stacks.catalog import STACKS

NAME_MAX = 150  # characters of a case's name in a file's name: file systems take 255 in all


def case_name(case: Case) -> str:
    """Returns a readable name that can be a file's: `gemm-quick-forward-f32-cpu-jax_jit`, `…-bf16_autocast-cpu-…`."""
    name = case.comparison_name_in(precision_name(case.precision, case.stack))
    return re.sub(r"[^A-Za-z0-9_.@=,-]", "_", f"{name}-{case.stack_name}")


def precision_name(precision: str, stack: str) -> str:
    """Returns the precision, and for bf16 the stack's own mixed precision with it: `f32`, `bf16_autocast`."""
    row = STACKS.get(stack) if precision == "bf16" else None
    return f"{precision}_{row.mixed_precision}" if row and row.mixed_precision else precision


def counterpart(stack: str, stacks: Iterable[str]) -> str:
    """Returns which of a question's `stacks` stands there where `stack` stands in other questions: itself, else the
    first by name that runs a function of this question on the same stack, as `torch_eager:floor` does for
    `torch_eager:cumprod`. Empty if none does."""
    found, own = sorted(stacks), stack.partition(":")[0]
    return stack if stack in found else next((each for each in found if each.partition(":")[0] == own), "")


def attempt_name(attempt: Attempt) -> str:
    """Returns the stem of an attempt's files; the names sort in the order in which the attempts ran."""
    replicate = f"-r{attempt.replicate}" if attempt.replicate > 1 else ""
    purpose = "" if attempt.purpose is Purpose.TIMED else f"-{attempt.purpose}"
    digest = hashlib.sha256(attempt.case.case_id.encode()).hexdigest()[:6]
    case = f"{case_name(attempt.case)[:NAME_MAX]}-{digest}"
    return f"b{attempt.block:02d}-{attempt.position:03d}-{case}{replicate}{purpose}-a{attempt.retry}"


def retry_of(name: str) -> int:
    return int(name.rpartition("-a")[2])
