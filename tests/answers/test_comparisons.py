"""The table of comparisons, and what shows which of its columns."""

from __future__ import annotations

import pytest

from suite.answers.comparisons import equal_words
from suite.answers.show import only, part
from suite.page.formats.export import HEADS
from suite.results.columns import shown_in
from tests.answers.asking import answered
from tests.results.rows import attempt_of, row_of, rows_of

JAX = "jax_jit"
KINDS = {"numpy": "float64", JAX: "float32"}


def test_every_column_that_is_shown_is_in_the_table_and_has_a_title() -> None:
    table = answered("comparisons", rows_of({"numpy": [0.02] * 3})).table
    for name in ("timing", "clocks", "console", "data"):
        assert len(shown_in(name)) > 6 and {*shown_in(name)} <= {*table.columns}


def test_csv_begins_with_the_headline_clock() -> None:
    assert HEADS[7:12] == ("median_seconds", "low_seconds", "high_seconds", "first_seconds", "second_seconds")
    assert HEADS[-3:] == ("peak_bytes", "flags", "predicted_bytes")


def test_a_column_is_hidden_where_no_stack_has_its_value() -> None:
    table = answered("comparisons", rows_of({"numpy": [0.02] * 2, JAX: [0.01] * 2})).table
    shown = {head.title for head in part("", only(table, shown_in("clocks"))).heads}
    assert {"Fetch", "Worst error"} <= shown
    assert not shown & {"Share of the limit", "Cores had", "Page faults", "Kernels"}


def test_the_steady_clocks_have_the_unit_of_the_medians() -> None:
    rows = [row | {"fetch_seconds": [3.0]} for row in rows_of({"numpy": [0.02] * 3, JAX: [0.01] * 3})]
    shown = part("", only(answered("comparisons", rows).table, ("median_seconds", "fetch_seconds")))
    assert {head.note for head in shown.heads} == {"ms"}


def test_a_stack_without_a_steady_time_has_no_time_and_says_how_it_ended() -> None:
    lost = row_of(
        attempt_of(JAX), first_seconds=2.0, outcome="timeout", phase="steady", synced_seconds=None, reason="x"
    )
    line = answered("comparisons", [*rows_of({"numpy": [0.02] * 3}), lost]).table.to_dicts()[-1]
    assert (line["stack"], line["judged"], line["first_seconds"]) == (JAX, "timeout in the steady runs", None)


@pytest.mark.parametrize(("error", "said"), [(5e-5, False), (3e-3, True)])
def test_a_right_model_whose_gradients_are_further_off_than_the_tolerance_is_explained(
    error: float, said: bool
) -> None:
    rows = [row | {"tolerance": 1e-4, "relative_error": error} for row in rows_of({"numpy": [0.02] * 3})]
    assert ("gradients" in equal_words(answered("comparisons", rows).table)) is said


def test_results_of_several_types_are_named() -> None:
    rows = rows_of({"numpy": [0.02] * 3, JAX: [0.01] * 3})
    typed = [row | {"result_types": f'{{"y": "{kind}"}}'} for row in rows for kind in [KINDS[row["stack"]]]]
    said = equal_words(answered("comparisons", typed).table)
    assert said.endswith("esults are float32 on jax_jit, float64 on numpy.")
