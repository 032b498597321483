"""Digests tell how far two tensors are apart."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suite.reference.digests import SUMS, Digest, difference, digest, from_figures
from suite.workloads.tensors import Normal, generate


def normal(size: int, name: str = "x", seed: int = 0) -> np.ndarray:
    return generate(Normal((size,)), name, seed)


@given(st.integers(1, 300), st.integers(0, 5))
def test_a_digest_sees_a_change(size: int, seed: int) -> None:
    value = normal(size, seed=seed)
    changed = value.copy()
    changed[-1] += 1.0
    ours = digest(value, "x")
    assert ours == digest(value.copy(), "x") == from_figures(ours.figures)
    assert ours.norm == pytest.approx(float(np.linalg.norm(value.astype(np.float64))))
    assert ours.peak == np.abs(value).max()
    apart = np.linalg.norm(np.subtract(digest(changed, "x").sums, ours.sums))
    assert apart == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize("size", [40, 5_000, 3 << 20])
@pytest.mark.parametrize("share", [1e-6, 1e-3, 0.5])
def test_the_distance_of_digests_is_about_that_of_tensors(size: int, share: float) -> None:
    right, noise = normal(size).astype(np.float64), normal(size, "noise").astype(np.float64)
    wrong = right + share * noise
    whole, estimate = difference(wrong, right, "x"), difference(digest(wrong, "x"), digest(right, "x"), "x")
    assert estimate.error == pytest.approx(whole.error, rel=0.5)
    assert estimate.norm == pytest.approx(whole.norm)
    assert estimate.cosine == pytest.approx(whole.cosine, abs=0.5 * share**2 + 1e-9)


def test_a_turned_tensor_of_the_same_norm_is_seen() -> None:
    right = normal(1 << 18)
    for wrong, cosine in ((-right, -1.0), (normal(1 << 18, "other"), 0.0)):
        found = difference(wrong * np.float32(np.linalg.norm(right) / np.linalg.norm(wrong)), digest(right, "x"), "x")
        assert found.cosine == pytest.approx(cosine, abs=0.6)
        assert found.error > 1.0


def test_differences_by_hand() -> None:
    found = difference(np.array([3.0, 4.001]), np.array([3.0, 4.0]), "x")
    assert found.error == pytest.approx(0.001 / 5)
    assert difference(np.array([0.0, 2.0]), np.array([2.0, 0.0]), "x").cosine == pytest.approx(0.0)
    assert difference(np.zeros(2), np.array([2.0, 0.0]), "x").cosine == 0.0
    assert difference(np.array([1e-3]), np.zeros(1), "x").error == 1e-3
    assert difference(np.array([1.5]), np.array([1.0]), "x", rounding=0.4).error == pytest.approx(0.1)
    assert difference(np.array([1.2]), np.array([1.0]), "x", rounding=0.4).error == 0.0


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_nan_is_no_distance(bad: float) -> None:
    right, wrong = normal(100), normal(100)
    wrong[7] = bad
    with np.errstate(invalid="ignore"):
        for found in (difference(wrong, right, "x"), difference(wrong, digest(right, "x"), "x")):
            assert not found.error <= 1e300


def test_a_digest_of_another_kind_is_refused() -> None:
    with pytest.raises(ValueError, match=f"has {SUMS + 2} figures, this one 3"):
        from_figures([1.0, 2.0, 3.0])
    assert len(digest(normal(5), "x").figures) == SUMS + 2
    assert isinstance(from_figures(range(SUMS + 2)), Digest)
