"""Published times beside measured ones, and which of them can't be."""

from __future__ import annotations

from typing import Any

import pytest

from suite.sets.rows import Row
from suite.workloads import catalog
from tests.answers.asking import answered, asked
from tests.results.rows import attempt_of, row_of

DIMS = catalog.find()["gpt2"].dims("full", {"batch": 2, "seq": 64})


def step(stack: str, seconds: float, **case: Any) -> Row:
    """A row of the study's training step of GPT-2."""
    asked = {"workload": "gpt2", "size": "full", "dims": DIMS, "pass_": "train"} | case
    return row_of(attempt_of(stack, **asked), seconds, dialect="jax", fetch_seconds=[2 * seconds] * 3)


def test_the_study_s_time_stands_beside_ours_and_is_called_impossible() -> None:
    found = answered("published", [step("jax_jit", 0.9), step("torch_eager", 1.1)])
    [row] = found.table.to_dicts()
    assert (row["stack"], row["published_seconds"], row["device"]) == ("jax_jit", 0.708e-3, "v6e")
    assert (row["measured_seconds"], row["least_seconds"]) == (pytest.approx(0.9), pytest.approx(1.657e-3, rel=1e-3))
    assert row["possible"] == "can't be"
    assert found.sentence.count("×") == 1, "one ratio is no range"
    [said] = found.also
    assert "published 708 µs on a v6e can't be a whole step, which takes at least 1.66 ms there" in said


def test_a_stack_without_a_time_that_counts_leaves_ours_open() -> None:
    wrong = step("jax_jit", 0.9) | {"outcome": "wrong", "reason": "loss"}
    found = answered("published", [wrong, step("torch_eager", 1.1)])
    assert found.table["measured_seconds"].to_list() == [None] and "measured here" not in found.sentence


def test_a_time_with_the_copy_to_the_host_stands_beside_ours_with_it() -> None:
    case = {"workload": "gemm", "dims": {"n": 3000}, "pass_": "forward"}
    rows = answered("published", [step("jax_eager", 0.2, **case)]).table.to_dicts()
    assert {(row["device"], row["ends"]): row["measured_seconds"] for row in rows if row["stack"] == "jax_eager"} == {
        ("CPU", "device"): pytest.approx(0.2),
        ("GPU", "host"): pytest.approx(0.4),
        ("TPU", "host"): pytest.approx(0.4),
        ("TPU", "device"): pytest.approx(0.2),
    }
    assert {(row["least_seconds"], row["possible"]) for row in rows} == {(None, "")}, "no chip is named"


def test_another_size_is_another_question() -> None:
    assert asked("published", [step("jax_jit", 0.9, dims=DIMS | {"batch": 4})]) is None
