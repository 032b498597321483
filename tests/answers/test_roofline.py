"""Where cases lie under the machine's roofline."""

from __future__ import annotations

import pytest

from suite.sets.rows import Row
from tests.answers.asking import answered, asked
from tests.results.rows import attempt_of, row_of

SWEEP = {"flops_per_second_best": 4e11, "bytes_per_second_best": 2e10, "gemm_flops_per_second": {}, "threads": 2}


def of(flops: float | None, bytes_floor: float | None) -> list[Row]:
    """Two stacks on one question of so much work, 10 and 20 ms a step."""
    return [
        row_of(attempt_of(stack, block), seconds, flops=flops, bytes_floor=bytes_floor)
        for block in (1, 2)
        for stack, seconds in (("numpy", 0.02), ("jax_jit", 0.01))
    ]


@pytest.mark.parametrize(
    ("flops", "moved", "bound"),
    [(2e9, 1e6, "arithmetic"), (2e8, 1e8, "memory")],  # least times: 2e9 / 4e11 = 5 ms; 1e8 / 2e10 = 5 ms
)
def test_a_case_is_bound_by_what_takes_longer(flops: float, moved: float, bound: str) -> None:
    first, second = answered("roofline", of(flops, moved), "numpy", roofline=SWEEP).table.to_dicts()
    assert (first["stack"], first["bound"], second["bound"]) == ("jax_jit", bound, bound)
    assert first["flops_per_byte"] == flops / moved
    assert first["flops_per_second"] == pytest.approx(flops / 0.01)
    assert (first["efficiency"], second["efficiency"]) == pytest.approx((0.5, 0.25))


def test_the_section_says_how_near_and_draws_a_roof() -> None:
    found = answered("roofline", of(2e9, 1e6), "numpy", roofline=SWEEP)
    assert (
        "jax_jit on gemm forward (50 %)" in found.sentence and "(25 %)" in found.sentence and "0 of 1" in found.sentence
    )
    (chart,) = found.figures
    assert chart
    (roof,) = chart.names
    heights = [corner["y"] for corner in chart.drawn[roof]]
    assert heights == sorted(heights, reverse=True) and heights[-1] == heights[-2], "it rises, then it is flat"
    assert len(chart.drawn[None]) == 2


def test_without_a_roof_or_known_work_there_is_no_section() -> None:
    assert asked("roofline", of(None, None), "numpy", roofline=SWEEP) is None
    assert asked("roofline", of(2e9, 1e6), "numpy") is None


def test_a_stack_without_a_point_is_named_with_its_outcome() -> None:
    rows = [row | {"outcome": "wrong", "phase": "gate"} if row["stack"] == "jax_jit" else row for row in of(2e9, 1e6)]
    found = answered("roofline", rows, "numpy", roofline=SWEEP)
    assert found.table["stack"].to_list() == ["numpy"]
    assert found.also == ["Not in the table: jax_jit on gemm forward (wrong result)."]
