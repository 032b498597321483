"""Small result sets made by hand: rows of known seconds, and blocks that were or weren't accepted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from suite.sets.result_set import ResultSet
from suite.sets.rows import Row
from suite.stacks.names import attempt_name
from tests.plan_files import plan_file
from tests.results import rows
from tests.results.rows import attempt_of


def row_of(stack: str, block: int, seconds: float, **which: Any) -> Row:
    """An ok row whose steady median is `seconds`, behind a warm-up of more than half its samples."""
    return rows.row_of(attempt_of(stack, block, **which), [*[90.0 * seconds] * 4, *[seconds] * 3], synced_warmup=4)


@pytest.fixture
def stored(tmp_path: Path) -> ResultSet:
    """An empty result set."""
    return ResultSet.create(tmp_path / "results" / "s", plan_file(set_id="s"))


@pytest.fixture
def add(stored: ResultSet) -> Callable[..., None]:
    """`add("numpy", 1, 0.5, retry=2)`: write an attempt's file."""

    def add(stack: str, block: int, seconds: float, **which: Any) -> None:
        stored.write_attempt(attempt_name(attempt_of(stack, block, **which)), row_of(stack, block, seconds, **which))

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
