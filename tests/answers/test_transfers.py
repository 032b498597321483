"""What a copy to host memory adds is told with its interval, or not at all."""

from __future__ import annotations

from suite.answers.answer import Answer
from suite.stats import mean_of
from tests.answers.asking import answered
from tests.results.rows import rows_of


def of(copies: dict[str, list[float]]) -> Answer:
    """Stacks with a step of 10 ms whose processes take these seconds more for the fetch."""
    rows = rows_of({stack: [0.010] * len(seconds) for stack, seconds in copies.items()})
    left = {stack: iter(seconds) for stack, seconds in copies.items()}
    fetched = [row | {"fetch_seconds": [0.010 + next(left[row["stack"]])]} for row in rows]
    return answered("transfers", fetched, "numpy")


def test_a_copy_is_told_with_its_interval_where_it_is_above_zero() -> None:
    found = of({"numpy": [9e-3, -8e-3, 5e-3], "jax_jit": [2.00e-3, 2.02e-3, 1.98e-3]})
    low = {line["stack"]: line["copy_seconds_low"] for line in found.table.to_dicts()}
    assert low["numpy"] < 0 and 1.8e-3 < low["jax_jit"] < 2e-3
    assert "in 1 of 2 cases, at most 2.00 ms (jax_jit on gemm forward)." in found.sentence


def test_noisy_copies_are_not_called_a_time() -> None:
    assert (
        "no difference is above its noise"
        in of({"numpy": [9e-3, -8e-3, 5e-3], "jax_jit": [1e-3, -1e-3, 5e-4]}).sentence
    )
    assert "has no interval" in of({"numpy": [9e-3], "jax_jit": [1e-3]}).sentence


def test_the_intervals_hold_together() -> None:
    seconds = [1e-3, 2e-3, 3e-3]
    alone = mean_of(seconds, 2, 0.95).low
    assert alone is not None
    assert all(low < alone for low in of({"numpy": seconds, "jax_jit": seconds}).table["copy_seconds_low"])


def test_a_stack_whose_result_is_wrong_is_named_below_the_table() -> None:
    rows = [row | {"fetch_seconds": [0.011]} for row in rows_of({"numpy": [0.010] * 3, "jax_jit": [0.010] * 3})]
    wrong = [row | {"outcome": "wrong", "phase": "gate"} if row["stack"] == "jax_jit" else row for row in rows]
    found = answered("transfers", wrong, "numpy")
    assert found.table["stack"].to_list() == ["numpy"]
    assert found.also == ["Not in the table: jax_jit on gemm forward (wrong result)."]
