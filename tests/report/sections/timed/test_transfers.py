"""The section "Device or host": what a copy to host memory adds is told with its interval, or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from suite import results
from suite.report.page import report
from suite.report.sections.timed.transfers import TransfersSection
from suite.stats import mean_of
from tests.report.parts import part
from tests.results.rows import rows_of

NO_BREAK = "\N{NO-BREAK SPACE}"


def section_of(copies: dict[str, list[float]]) -> TransfersSection:
    """The section of stacks with a step of 10 ms whose processes take these seconds more for the fetch."""
    rows = rows_of({stack: [0.010] * len(seconds) for stack, seconds in copies.items()})
    by_stack = {stack: iter(seconds) for stack, seconds in copies.items()}
    fetched = [row | {"fetch_seconds": [0.010 + next(by_stack[row["stack"]])]} for row in rows]
    return part(report(results.Results(Path("copies"), None, fetched, [], {}), "numpy"), TransfersSection)


def test_a_copy_is_told_with_its_interval_where_it_is_above_zero() -> None:
    section = section_of({"numpy": [9e-3, -8e-3, 5e-3], "jax_jit": [2.00e-3, 2.02e-3, 1.98e-3]})
    [sure] = [row for row in section.rows if row.is_shown]
    assert sure.figures.stack == "jax_jit" and sure.copy
    assert sure.copy.value == pytest.approx(2e-3)
    assert sure.copy.low is not None and 1.8e-3 < sure.copy.low < 2e-3
    answer = section.answer.replace(NO_BREAK, " ")
    assert "is shown to add time in 1 of 2 cases, most in jax_jit on gemm forward: 2.00 ms [1." in answer
    assert "at most" not in answer


def test_noisy_copies_are_not_called_a_time() -> None:
    section = section_of({"numpy": [9e-3, -8e-3, 5e-3], "jax_jit": [1e-3, -1e-3, 0.5e-3]})
    assert section.answer == (
        "No copy of a result to host memory is shown to add time: no difference is above its noise."
    )
    one = section_of({"numpy": [9e-3], "jax_jit": [1e-3]})
    assert one.answer.endswith("has no interval, which takes two processes of a stack.")


def test_the_intervals_hold_together() -> None:
    copies = {"numpy": [1e-3, 2e-3, 3e-3], "jax_jit": [1e-3, 2e-3, 3e-3]}
    alone = mean_of(copies["numpy"], 2, 0.95)
    for row in section_of(copies).rows:
        assert row.copy and row.copy.low is not None and alone.low is not None and row.copy.low < alone.low


def test_a_stack_whose_result_is_wrong_is_named_below_the_table() -> None:
    rows = [row | {"fetch_seconds": [0.011]} for row in rows_of({"numpy": [0.010] * 3, "jax_jit": [0.010] * 3})]
    rows = [row | {"outcome": "wrong", "phase": "gate"} if row["stack"] == "jax_jit" else row for row in rows]
    section = part(report(results.Results(Path("wrong"), None, rows, [], {}), "numpy"), TransfersSection)
    assert [row.figures.stack for row in section.rows] == ["numpy"]
    assert section.left_out == ("jax_jit on gemm forward (wrong result)",)
