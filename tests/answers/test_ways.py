"""One stack under two settings."""

from __future__ import annotations

import pytest

from tests.answers.asking import answered, asked
from tests.results.rows import rows_of

PLAIN = rows_of({"numpy": [0.02, 0.021, 0.022], "jax_jit": [0.01, 0.0101, 0.0102]})
TUNED = rows_of({"numpy": [0.01, 0.0105, 0.011], "jax_jit": [0.02, 0.0202, 0.0204]}, track="tuned")


def test_each_stack_is_compared_with_itself() -> None:
    table = answered("ways", [*PLAIN, *TUNED]).table
    assert [*table.select("by", "stack", "value", "baseline", "clock", "verdict").iter_rows()] == [
        ("track", "jax_jit", "tuned", "default", "synced", "slower"),
        ("track", "numpy", "tuned", "default", "synced", "faster"),
    ]
    assert table["speedup"].to_list() == pytest.approx([0.5, 2.0])


def test_the_sentence_counts_the_verdicts_of_each_field() -> None:
    said = answered("ways", [*PLAIN, *TUNED]).sentence
    assert said == "Default and tuned track: tuned 1 slower, 1 faster."


def test_a_cache_is_compared_by_first_runs() -> None:
    warm = [row | {"first_seconds": 0.05} for row in rows_of({"numpy": [0.02] * 3}, cache="warm")]
    cold = [row | {"first_seconds": 0.10} for row in rows_of({"numpy": [0.02] * 3})]
    table = answered("ways", [*cold, *warm]).table
    assert (table["clock"].item(), table["speedup"].item()) == ("first", pytest.approx(2.0))


def test_a_set_of_one_setting_has_none() -> None:
    assert asked("ways", PLAIN) is None
