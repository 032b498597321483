"""What a question is called: only what tells it from the others, and always that bf16 isn't one arithmetic."""

from __future__ import annotations

from suite.verdicts.names import details, question_names
from tests.results.rows import attempt_of, row_of

OWN = "bf16 (each framework's own mixed precision)"


def names(*precisions: str) -> list[str]:
    heads = [row_of(attempt_of(precision=precision)) for precision in precisions]
    return list(question_names(heads).values())


def test_a_precision_is_said_where_it_varies() -> None:
    assert names("f32") == ["gemm forward"]
    assert names("f32", "tf32") == ["gemm forward f32", "gemm forward tf32"]
    assert names() == []


def test_bf16_is_always_said_to_be_each_frameworks_own() -> None:
    assert names("bf16") == [f"gemm forward {OWN}"]
    assert names("f32", "bf16") == ["gemm forward f32", f"gemm forward {OWN}"]
    row = row_of(attempt_of(precision="bf16"))
    assert details(row, ["size", "precision", "threads"]) == ["tiny", OWN, "on 2 cores"]
