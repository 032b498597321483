"""Small result sets made by hand: rows of known seconds, and blocks that were or weren't accepted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from suite.case import Attempt, Case, Purpose
from suite.results.store.result_set import ResultSet
from suite.results.store.rows import Row, empty_row
from tests.plan_files import plan_file


def attempt_of(stack: str, block: int, *, workload: str = "gemm", replicate: int = 1, retry: int = 1) -> Attempt:
    """One process of `stack` in `block`."""
    case = Case(
        workload=workload,
        size="tiny",
        dims={"n": 8},
        pass_="forward",
        precision="f32",
        track="default",
        stack=stack,
        variant="",
        target="cpu",
        device="cpu",
        cache="cold",
        threads=2,
    )
    return Attempt(
        set_id="s", case=case, block=block, order=1, replicate=replicate, purpose=Purpose.TIMED, retry=retry, seed=7
    )


def row_of(stack: str, block: int, seconds: float, **which: Any) -> Row:
    """An ok row whose steady median is `seconds`, behind a warm-up of more than half its samples."""
    columns = {
        "machine_id": "m",
        "outcome": "ok",
        "synced_seconds": [*[90.0 * seconds] * 4, *[seconds] * 3],
        "synced_warmup": 4,
    }
    return empty_row(attempt_of(stack, block, **which)) | columns


@pytest.fixture
def stored(tmp_path: Path) -> ResultSet:
    """An empty result set."""
    return ResultSet.create(tmp_path / "results" / "s", plan_file(set_id="s"))


@pytest.fixture
def add(stored: ResultSet) -> Callable[..., None]:
    """`add("numpy", 1, 0.5, retry=2)`: write an attempt's file."""

    def add(stack: str, block: int, seconds: float, **which: Any) -> None:
        stored.write_attempt(attempt_of(stack, block, **which).name, row_of(stack, block, seconds, **which))

    return add


@pytest.fixture
def judge(stored: ResultSet) -> Callable[..., None]:
    """`judge(1, 1)`: record block 1, retry 1 as complete; `reasons` are those of its noise."""

    def judge(block: int, retry: int, *reasons: str, verdict: str = "accepted") -> None:
        record = {
            "block": block,
            "retry": retry,
            "verdict": verdict,
            "reasons": list(reasons),
            "canary_seconds": [0.1, 0.11],
            "steal_share": 0.002,
        }
        stored.write_block(block, retry, record)

    return judge
