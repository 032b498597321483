"""The probe: products of operands rounded as each format rounds them, and what a row says of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from suite.worker.equivalence import precision
from suite.workloads import catalog
from tests.mutations import TF32
from tests.scenes import SCENARIOS
from tests.worker.processes import attempt_of, case_of, columns_of, of, request, run_worker

MANTISSA = {"f32": 23, "tf32": 10, "bf16": 7}  # bits kept, Kalamkar et al. 2019 (arXiv:1905.12322) for bfloat16
Array = NDArray[np.float32]
OPS = catalog.HOME / "ops"


def rounded(values: Array, bits: int, nearest: bool) -> Array:
    """float32 with so many bits of mantissa, to nearest even or truncated, on the words themselves."""
    words, dropped = values.view(np.uint32), 23 - bits
    if nearest and dropped:
        last = (words >> np.uint32(dropped)) & np.uint32(1)
        words = words + last + np.uint32(2 ** (dropped - 1) - 1)
    return (words & np.uint32(2**32 - 2**dropped)).view(np.float32)


@settings(deadline=None, max_examples=50)
@given(
    name=st.sampled_from(sorted(MANTISSA)),
    nearest=st.booleans(),
    stored=st.sampled_from(["f32", "bf16"]),
    order=st.permutations(range(8)),
)
def test_every_format_is_recognised(name: str, nearest: bool, stored: str, order: list[int]) -> None:
    """However operands are rounded, sums are ordered, and the result is stored."""
    a, b = (rounded(operand, MANTISSA[name], nearest) for operand in precision.probe_operands())
    parts = [a[:, i::8] @ b[i::8] for i in order]
    product = np.sum(parts, axis=0, dtype=np.float32)
    assert precision.observed(rounded(product, MANTISSA[stored], nearest=True)) == name


@settings(deadline=None, max_examples=50)
@given(names=st.permutations(sorted(MANTISSA)), nearest=st.booleans())
def test_factors_of_two_kinds_are_neither(names: list[str], nearest: bool) -> None:
    a, b = precision.probe_operands()
    mixed = rounded(a, MANTISSA[names[0]], nearest) @ rounded(b, MANTISSA[names[1]], nearest)
    assert precision.observed(mixed) == "unknown"


@settings(deadline=None, max_examples=50)
@given(factor=st.floats(0.5, 2.0).filter(lambda x: abs(x - 1) > 0.06 and abs(x - 0.696) > 0.06))
def test_another_answer_is_unknown(factor: float) -> None:
    a, b = precision.probe_operands()
    assert precision.observed(a @ b * np.float32(factor)) == "unknown"


def test_one_odd_element_a_wrong_shape_and_nan_are_unknown() -> None:
    a, b = precision.probe_operands()
    product = a @ b
    assert precision.observed(product[:1]) == "unknown"
    assert precision.observed(product * np.float32("nan")) == "unknown"
    product[-1, -1] = 0.0
    assert precision.observed(product) == "unknown"


def test_the_emulated_tf32_of_the_mutants_is_seen() -> None:
    """An independent rounding: Veltkamp's splitting."""
    names: dict[str, Array] = {}
    exec(TF32, names)
    a, b = (names["tf32"](operand) for operand in precision.probe_operands())  # type: ignore[operator]
    assert precision.observed(a @ b) == "tf32"


def test_a_contradiction_names_both() -> None:
    assert precision.contradictions("f32", "f32") == []
    assert precision.contradictions("f32", "tf32") == ["declared f32, but a probe product was computed in tf32"]
    assert "neither f32 nor tf32 nor bf16" in precision.contradictions("bf16", "unknown")[0]


# --- in a worker ---


@pytest.mark.parametrize("gate", [True, False])
def test_every_row_says_what_was_found(gate: bool, tmp_path: Path) -> None:
    _, told = run_worker(request(attempt_of(case_of()), OPS / "gemm", tmp_path, gate=gate))
    assert columns_of(told)["precision_observed"] == "f32"
    assert of(told, "wrong") == []


@pytest.mark.parametrize("gate", [True, False])
@pytest.mark.parametrize(
    ("scene", "declared", "found"), [("calm", "bf16", "f32"), ("rounded", "f32", "bf16"), ("rounded", "bf16", "bf16")]
)
def test_a_row_that_declares_another_precision_is_wrong(
    scene: str, declared: str, found: str, gate: bool, tmp_path: Path
) -> None:
    case = case_of(stack="fake", workload="story", size=scene, dims={"step_us": 200}, precision=declared)
    done, told = run_worker(request(attempt_of(case), SCENARIOS / "story", tmp_path, gate=gate))
    assert done.returncode == 0, done.stderr
    assert columns_of(told)["precision_observed"] == found
    reasons = [event["reason"] for event in of(told, "wrong")]
    assert reasons == precision.contradictions(declared, found)
