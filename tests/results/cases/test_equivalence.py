"""What is known of whether cases compute the same."""

from __future__ import annotations

from pathlib import Path

from suite import results
from suite.results.cases.equivalence import differing_weights, proofs
from suite.results.store.rows import Row
from tests.results.rows import attempt_of, row_of


def of(*rows: Row) -> results.Results:
    """A set of some rows."""
    return results.Results(Path("set"), None, list(rows), [], {})


def test_the_worst_error_comes_first_and_a_wrong_case_says_why() -> None:
    wrong = {"outcome": "wrong", "reason": "gradient of w: 0.1", "relative_error": 0.1, "weights_sha256": "a"}
    found = proofs(
        of(
            row_of(attempt_of(), weights_sha256="a", precision_observed="f32"),
            row_of(attempt_of(block=2), relative_error=None, weights_sha256="a"),
            row_of(attempt_of("jax_jit"), **wrong),
            row_of(attempt_of("tf_xla"), relative_error=None, weights_sha256="a"),
        ).analysis("numpy")
    )
    assert [(case.stack, case.error, case.is_gated) for case in found] == [
        ("jax_jit", 0.1, True),
        ("numpy", 1e-7, True),
        ("tf_xla", None, False),
    ]
    assert (found[0].outcome, found[0].reason, found[1].precision) == ("wrong", "gradient of w: 0.1", "f32")
    assert differing_weights(found) == ()


def test_other_weights_are_seen() -> None:
    found = proofs(
        of(row_of(attempt_of(), weights_sha256="a"), row_of(attempt_of("jax_jit"), weights_sha256="b")).analysis(
            "numpy"
        )
    )
    assert differing_weights(found) == (found[0].question,)
