"""Rows and result sets as a run would leave them, for the results' tests."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from suite.case import Attempt, Case, Purpose
from suite.protocol import Protocol
from suite.sets.result_set import ResultSet
from suite.sets.rows import CLOCKS, Row, empty_row
from suite.verdicts.speedups import Pairing
from suite.verdicts.verdicts import Speedup
from tests.plan_files import plan_file

GEMM = Case(
    workload="gemm",
    size="tiny",
    dims={"n": 64},
    pass_="forward",
    precision="f32",
    track="default",
    stack="numpy",
    variant="",
    target="cpu",
    device="cpu",
    cache="cold",
    threads=2,
)
WHEN = datetime.datetime(2026, 3, 1, 12, 30, 15, 250_000, tzinfo=datetime.UTC)


def attempt_of(
    stack: str = "numpy",
    block: int = 1,
    retry: int = 1,
    replicate: int = 1,
    order: int = 1,
    purpose: Purpose = Purpose.TIMED,
    **case: Any,
) -> Attempt:
    """An attempt of `gemm` on a stack."""
    asked = dataclasses.replace(GEMM, stack=stack, **case)
    return Attempt(
        set_id="a-set",
        case=asked,
        block=block,
        position=order,
        replicate=replicate,
        purpose=purpose,
        retry=retry,
        seed=0,
    )


def row_of(attempt: Attempt, seconds: float | Iterable[float] = 0.01, **columns: Any) -> Row:
    """An `ok` row of an attempt whose every sample took `seconds`."""
    samples = [seconds] * 5 if isinstance(seconds, float) else list(seconds)
    return (
        empty_row(attempt)
        | {
            "machine_id": "a-machine",
            "dialect": "numpy",
            "environment": "numpy",
            "engine": "local",
            "outcome": "ok",
            "phase": "end",
            "exit_code": 0,
            "started_at": WHEN,
            "synced_warmup": 0,
            "synced_seconds": samples,
            "dispatch_seconds": samples,
            "pipelined_seconds": samples,
            "fetch_seconds": samples,
            "pipelined_calls": 4,
            "first_seconds": samples[0] * 10,
            "second_seconds": samples[0] * 2,
            "relative_error": 1e-7,
        }
        | columns
    )


def untimed_row(attempt: Attempt, **columns: Any) -> Row:
    """An `ok` row of a process that isn't timed."""
    return row_of(attempt) | dict.fromkeys(f"{clock}_seconds" for clock in CLOCKS) | columns


def rows_of(seconds: Mapping[str, Iterable[float]], **case: Any) -> list[Row]:
    """Rows of stacks by their seconds in block 1, 2, …."""
    return [
        row_of(attempt_of(stack, block, **case), value)
        for stack, values in seconds.items()
        for block, value in enumerate(values, 1)
    ]


def record(block: int, retry: int, verdict: str = "accepted", reasons: Iterable[str] = ()) -> dict[str, Any]:
    """A block's record."""
    return {
        "block": block,
        "retry": retry,
        "verdict": verdict,
        "reasons": list(reasons),
        "canary_seconds": [0.1, 0.1 + block / 1000],
        "steal_share": 0.001 * retry,
    }


def make_set(folder: Path, rows: Iterable[Row], blocks: Iterable[dict[str, Any]]) -> ResultSet:
    """A result set with these rows and records, not committed."""
    store = ResultSet.create(folder, plan_file())
    for row in rows:
        tail = f"r{row['replicate']}-{row['purpose']}-a{row['retry']}"
        store.write_attempt(f"b{row['block']:02d}-{row.stack_name}-{tail}", row)
    for one in blocks:
        store.write_block(one["block"], one["retry"], one)
    return store


def ratios(rows: Iterable[Row], baseline: str, protocol: Protocol, clock: str = "synced") -> list[Speedup]:
    """The speedups over a baseline that the rows' run was planned with."""
    return [*Pairing.of(rows, protocol, baseline, clock).over(baseline).values()]
