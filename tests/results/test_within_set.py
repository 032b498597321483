"""One set that asked the same in two ways: paired, each field by the clock that it is about."""

from __future__ import annotations

from typing import Any

import pytest

from suite.protocol import Protocol
from suite.results.within_set import FIELDS, FieldComparison, compare_field, field_comparisons
from suite.sets.rows import Row
from tests.results.rows import attempt_of, row_of, rows_of

THREE = Protocol(blocks=3, blocks_max=3)
PACE = (1.0, 1.1, 1.25)  # of each block, which a pairing takes out
NOISE = (0.99, 1.0, 1.01)


def two_ways(faster: float = 2.0, **change: Any) -> list[Row]:
    """Two stacks, one of which was asked in another way too, by which it is faster."""
    plain = rows_of({"jax_jit": [0.01 * each for each in PACE], "numpy": [0.02 * each for each in PACE]})
    return plain + rows_of(
        {"jax_jit": [0.01 / faster * each * noise for each, noise in zip(PACE, NOISE, strict=True)]}, **change
    )


def only(rows: list[Row], field: str) -> FieldComparison:
    """Returns the comparison by one field; no other field may have two values."""
    (found,) = field_comparisons(rows, THREE)
    assert found.field == field
    return found


@pytest.mark.parametrize(
    ("change", "field", "question"),
    [
        ({"track": "tuned"}, "track", "gemm forward"),
        ({"precision": "bf16"}, "precision", "gemm forward"),
        ({"pass_": "train"}, "pass", "gemm"),
        ({"cache": "warm"}, "cache", "gemm forward"),
        ({"variant": "nightly"}, "variant", "gemm forward"),
    ],
)
def test_two_ways_of_one_set_are_paired(change: dict[str, Any], field: str, question: str) -> None:
    comparison = only(two_ways(**change), field)
    assert comparison.base == FIELDS[field] and comparison.values == [comparison.base, next(iter(change.values()))]
    (line,) = comparison.over(comparison.base)
    assert (line.name, line.stack) == (question, next(iter(change.values())))
    assert comparison.stacks[line.comparison_id] == "jax_jit"
    assert line.verdict == "faster" and line.ratio.value == pytest.approx(2.0, rel=0.01)
    assert line.ratio.low and line.ratio.low > 1.9, "the pace of the blocks is taken out"
    (turned,) = comparison.over(comparison.values[1])
    assert turned.ratio.value == pytest.approx(0.5, rel=0.01)


def test_a_cache_is_judged_by_the_first_run() -> None:
    cold = [row_of(attempt_of("jax_jit", block), 0.01, first_seconds=2.0 * pace) for block, pace in enumerate(PACE, 1)]
    warm = [
        row_of(attempt_of("jax_jit", block, cache="warm"), 0.01, first_seconds=0.5 * pace)
        for block, pace in enumerate(PACE, 1)
    ]
    (line,) = only(cold + warm, "cache").over("cold")
    assert line.ratio.value == pytest.approx(4.0)


def test_first_runs_of_caches_in_two_modes_follow_the_rule_of_first_runs() -> None:
    """Every first run with a warm cache is faster than every one with a cold cache, but fast ones hardly meet."""
    cold, warm = [2.0, 3.5, 3.5, 3.5, 3.5], [0.4, 0.4, 0.4, 0.4, 0.28]
    rows = [row_of(attempt_of("jax_jit", block), 0.01, first_seconds=first) for block, first in enumerate(cold, 1)]
    rows += [
        row_of(attempt_of("jax_jit", block, cache="warm"), 0.01, first_seconds=first)
        for block, first in enumerate(warm, 1)
    ]
    (line,) = only(rows, "cache").over("cold")
    assert line.best is not None and line.best.blocks == 0, "their fast processes share no two blocks"
    assert line.verdict == "faster"


def test_questions_are_told_apart_by_what_differs() -> None:
    other: dict[str, Any] = {"size": "custom", "dims": {"n": 128}}
    rows = two_ways(pass_="train")
    rows += rows_of({"jax_jit": PACE}, **other) + rows_of({"jax_jit": PACE}, pass_="train", **other)
    (comparison,) = field_comparisons(rows, THREE)
    assert {line.name for line in comparison.over("forward")} == {"gemm tiny", "gemm custom"}


def test_nothing_where_nothing_was_asked_twice() -> None:
    assert field_comparisons(rows_of({"numpy": [0.01] * 3, "jax_jit": [0.02] * 3}), THREE) == ()
    # A track on one stack and another track on another stack are no pair.
    apart = rows_of({"numpy": [0.01] * 3}) + rows_of({"jax_jit": [0.01] * 3}, track="tuned")
    assert compare_field(apart, "track", THREE) is None
    failed = [
        row | {"outcome": "error", "synced_seconds": None} if row["track"] == "tuned" else row
        for row in two_ways(track="tuned")
    ]
    assert compare_field(failed, "track", THREE) is None


def test_three_ways_are_each_held_against_the_plain_one() -> None:
    rows = two_ways(precision="bf16") + two_ways(1.5, precision="tf32")[-3:]
    comparison = only(rows, "precision")
    assert comparison.values == ["f32", "bf16", "tf32"]
    assert [line.stack for line in comparison.over("f32")] == ["bf16", "tf32"]


def test_cores_are_a_setting_too_and_compared_by_their_number() -> None:
    rows = two_ways(threads=1) + two_ways(1.5, threads=16)[-3:]
    comparison = only(rows, "threads")
    assert comparison.values == ["1", "2", "16"]
    assert [line.stack for line in comparison.over("1")] == ["2", "16"]


def test_two_ways_of_two_machines_are_never_paired() -> None:
    """A set may have been put together from machines' shares."""
    rows = two_ways(track="tuned")
    assert only(rows, "track")
    elsewhere = [row | {"machine_id": "another"} if row["track"] == "tuned" else row for row in rows]
    assert field_comparisons(elsewhere, THREE) == ()
