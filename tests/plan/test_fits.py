"""Cases that the curves of another set predict to be too large."""

from __future__ import annotations

import dataclasses

from suite.case import Planned
from suite.plan.fits import fits_of, predicted
from suite.plan.search.capacity import memory_questions
from tests.plan.test_capacity import GIB, memory_row

SEEN = [memory_row("jax_jit", batch, 1 + 0.5 * batch) for batch in (1, 2, 4)]  # 1 GiB and half a GiB a sample
FITS = fits_of(memory_questions(SEEN), "a-set")
CASE = SEEN[0].case


def verdict(batch: int, **changes: object) -> str | None:
    """Whether a batch is predicted to be too large on a machine that can spare 20 GiB."""
    changed = {"limit_memory_bytes": None, "dims": {"batch": batch, "width": 8}} | changes
    case = dataclasses.replace(CASE, **changed)  # type: ignore[arg-type]
    (planned,) = predicted([Planned(case)], FITS, 20 * GIB)
    assert planned.case == case and planned.unsupported is None
    return planned.too_large


def test_only_what_the_curve_puts_over_the_limit_isn_t_tried() -> None:
    assert verdict(38) is None
    assert verdict(39) == (
        "needs about 20.5 GiB, by the curve through 3 peaks of a-set (largest error < 0.1 %); the limit is 20.0 GiB"
    )
    assert verdict(11, limit_memory_bytes=6 * GIB) is not None
    assert verdict(10, limit_memory_bytes=6 * GIB) is None


def test_a_curve_is_for_its_own_case_alone() -> None:
    for change in (
        {"stack": "torch_eager"},
        {"precision": "bf16"},
        {"pass_": "forward"},
        {"allocator": "system"},
        {"dims": {"batch": 1000, "width": 16}},
        {"dims": {"width": 8}},
    ):
        assert verdict(1000, **change) is None
    assert verdict(1000) is not None


def test_within_its_own_error_a_curve_decides_nothing() -> None:
    rough = [memory_row("jax_jit", b, (1 + 0.5 * b) * off) for b, off in ((1, 1.0), (2, 1.04), (4, 0.97), (8, 1.0))]
    (fit,) = fits_of(memory_questions(rough), "a-set")
    assert 0.01 < fit.curve.error < 0.05
    over = next(b for b in range(1, 100) if fit.curve.at(b) > 20 * GIB)
    case = dataclasses.replace(CASE, dims={"batch": over, "width": 8}, limit_memory_bytes=None)
    assert fit.reason(case, 20 * GIB) is None
    assert fit.reason(dataclasses.replace(case, dims={"batch": 2 * over, "width": 8}), 20 * GIB) is not None


def test_a_curve_that_nothing_tests_predicts_nothing() -> None:
    assert fits_of(memory_questions(SEEN[:2]), "a-set") == []
    scattered = [memory_row("jax_jit", b, gib) for b, gib in ((1, 1.0), (2, 3.0), (4, 3.1), (8, 5.9))]
    assert fits_of(memory_questions(scattered), "a-set") == []


def test_a_curve_by_the_library_s_rules_holds_where_freed_memory_is_kept() -> None:
    by_rules = dataclasses.replace(CASE, allocator="system")
    assert CASE.allocator == "kept"
    assert dataclasses.replace(FITS[0], case=by_rules).is_of(CASE)
    assert not FITS[0].is_of(by_rules), "the other way it says nothing"
