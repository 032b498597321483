"""A question at several sizes."""

from __future__ import annotations

import pytest

from tests.answers.asking import answered, asked
from tests.results.rows import rows_of

PACES = {64: 0.5, 128: 2.0, 256: 4.0}  # of jax_jit's step to numpy's
ROWS = [
    row
    for n, pace in PACES.items()
    for row in rows_of({"numpy": [0.02 * n] * 3, "jax_jit": [0.02 * n * pace] * 3}, dims={"n": n})
]


def test_each_size_has_each_stack_the_fastest_first() -> None:
    table = answered("sweeps", ROWS).table
    assert [*table.select("size", "stack").iter_rows()] == [
        *((64, "jax_jit"), (64, "numpy"), (128, "numpy")),
        *((128, "jax_jit"), (256, "numpy"), (256, "jax_jit")),
    ]
    seconds = [0.02 * n * pace for n, faster in PACES.items() for pace in sorted((1.0, faster))]
    assert table["median_seconds"].to_list() == pytest.approx(seconds)


def test_the_sentence_has_the_sizes_at_which_each_leads() -> None:
    sentence = answered("sweeps", ROWS).sentence
    assert sentence.endswith(" jax_jit at n = 64, then numpy at n = 128 to 256.")


def test_the_chart_has_each_stack_that_counts_at_two_sizes() -> None:
    failed = [
        row | ({"outcome": "wrong"} if row["stack"] == "numpy" and row["dims"] != ROWS[0]["dims"] else {})
        for row in ROWS
    ]
    ((_, whole),) = answered("sweeps", ROWS).charts.items()
    ((_, partly),) = answered("sweeps", failed).charts.items()
    assert whole and {*whole.names} == {"numpy", "jax_jit"}
    assert partly and {*partly.names} == {"jax_jit"}


def test_a_set_of_one_size_has_none() -> None:
    assert asked("sweeps", rows_of({"numpy": [0.02] * 3})) is None
