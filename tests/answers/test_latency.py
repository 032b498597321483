"""First, second and average steady call of a case, or how it ended."""

from __future__ import annotations

from typing import Any

import pytest

from suite.sets.rows import Row
from tests.answers.asking import answered
from tests.results.rows import attempt_of, row_of

ENDED = {"outcome": "oom_host", "reason": "killed at its limit", "synced_seconds": None}


def line(stack: str, *rows: Row) -> dict[str, Any]:
    """The line of a stack."""
    return next(line for line in answered("latency", rows, "numpy").table.to_dicts() if line["stack"] == stack)


def test_an_ok_stack_has_three_calls() -> None:
    found = line("numpy", row_of(attempt_of(), [0.01, 0.01, 0.04, 0.01, 0.01]))
    assert (found["first_seconds"], found["second_seconds"], found["ended"]) == (0.1, 0.02, "")
    assert found["average_seconds"] == pytest.approx(0.016)


@pytest.mark.parametrize(
    ("phase", "first", "second"),
    [("build", None, None), ("first", None, None), ("second", 2.0, None), ("steady", 2.0, 0.5)],
)
def test_a_case_that_ended_keeps_the_calls_before_its_end(
    phase: str, first: float | None, second: float | None
) -> None:
    row = row_of(attempt_of("jax_jit"), first_seconds=first, second_seconds=second, phase=phase, **ENDED)
    found = line("jax_jit", row_of(attempt_of()), row)
    assert (found["first_seconds"], found["second_seconds"], found["average_seconds"]) == (first, second, None)
    assert "out of host memory" in found["ended"]


def test_the_longest_first_call_is_named() -> None:
    rows = [row_of(attempt_of()), row_of(attempt_of("jax_jit"), first_seconds=7.5)]
    assert "7.50 s (jax_jit on gemm forward)" in answered("latency", rows, "numpy").sentence
