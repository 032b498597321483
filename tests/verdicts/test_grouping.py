"""Rows by question: nothing is lost, and the questions come by their names."""

from __future__ import annotations

from suite.case import Purpose
from suite.verdicts.grouping import by_question, grouped, reasons
from tests.results.rows import attempt_of, row_of


def test_rows_are_grouped_in_the_order_in_which_they_come() -> None:
    rows = [row_of(attempt_of(stack, block)) for block in (1, 2) for stack in ("numpy", "jax_jit")]
    groups = grouped(rows, lambda row: row.stack_name)
    assert list(groups) == ["numpy", "jax_jit"]
    assert [row["block"] for row in groups["jax_jit"]] == [1, 2]


def test_every_question_of_a_purpose_is_answered_once_by_name() -> None:
    asked = [("jax_jit", "train"), ("numpy", "forward"), ("numpy", "train")]
    rows = [row_of(attempt_of(stack, purpose=Purpose.IR, pass_=pass_)) for stack, pass_ in asked]
    rows.append(row_of(attempt_of("numpy", purpose=Purpose.MEMORY, pass_="forward")))
    assert by_question(rows, Purpose.IR, lambda _, name, group: (name, len(group))) == (
        ("gemm forward", 1),
        ("gemm train", 2),
    )
    merged = by_question(rows, Purpose.IR, lambda id_, _, group: (id_, len(group)), lambda row: row.text("workload"))
    assert merged == (("gemm", 3),)


def test_whoever_did_not_end_ok_has_a_reason_or_the_outcome() -> None:
    rows = [
        row_of(attempt_of("tf_xla"), outcome="timeout"),
        row_of(attempt_of("jax_jit"), outcome="error", reason="no"),
        row_of(attempt_of("numpy")),
    ]
    assert reasons(rows) == (("jax_jit", "no"), ("tf_xla", "timeout"))
