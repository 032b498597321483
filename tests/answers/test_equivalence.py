"""What is known of whether cases compute the same."""

from __future__ import annotations

from tests.answers.asking import answered
from tests.results.rows import attempt_of, row_of


def test_the_worst_error_comes_first_and_a_wrong_case_says_why() -> None:
    wrong = {"outcome": "wrong", "reason": "gradient of w: 0.1", "relative_error": 0.1, "weights_sha256": "a"}
    found = answered(
        "equivalence",
        [
            row_of(attempt_of(), weights_sha256="a", precision_observed="f32"),
            row_of(attempt_of(block=2), relative_error=None, weights_sha256="a"),
            row_of(attempt_of("jax_jit"), **wrong),
            row_of(attempt_of("tf_xla"), relative_error=None, weights_sha256="a"),
        ],
        "numpy",
    )
    columns = ("stack", "outcome", "relative_error", "precision_observed", "reason")
    first, second, third = found.table.select(columns).rows()
    assert first[:3] == ("jax_jit", "wrong", 0.1) and first[4] == "gradient of w: 0.1"
    assert second == ("numpy", "ok", 1e-7, "f32", None)
    assert third[:3] == ("tf_xla", "not compared", None)
    assert "1 of 3 cases agree" in found.sentence and "wrong: jax_jit on gemm forward" in found.sentence
    assert "differ" not in found.also[0]


def test_other_weights_are_seen() -> None:
    rows = [row_of(attempt_of(), weights_sha256="a"), row_of(attempt_of("jax_jit"), weights_sha256="b")]
    found = answered("equivalence", rows, "numpy")
    assert "differ between stacks on gemm forward" in found.also[0] and "weights differ" in found.sentence
