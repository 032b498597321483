"""What `inputs` returns: the declared types, ranges and forms; all different where they are sorted."""

from __future__ import annotations

import numpy as np
import pytest

from suite import ask
from suite.errors import UserError
from suite.workloads.tensors import DTYPES, Tensor, generate, stored_as


def made(tensor: Tensor) -> np.ndarray:
    return generate(tensor, "x", 3)


def test_every_type_is_as_declared() -> None:
    for dtype in DTYPES:
        small = {"high": 2} if dtype == "bool" else {"high": 100}
        whole = dtype.startswith(("int", "uint", "bool"))
        tensor = ask.integers(9, dtype=dtype, **small) if whole else ask.normal(9, dtype=dtype)
        values = made(tensor)
        assert values.dtype == stored_as(dtype) and values.shape == (9,)
        assert tensor.nbytes == 9 * (2 if dtype == "bfloat16" else values.dtype.itemsize)


def test_bfloat16_is_rounded_to_even() -> None:
    values = made(ask.normal(1000, dtype="bfloat16"))
    assert not (values.view(np.uint32) & 0xFFFF).any()
    single = made(ask.normal(1000))
    assert np.abs(values - single).max() <= 2.0**-8 * np.abs(single).max()


def test_a_million_normal_values_are_as_good_as_all_different() -> None:
    values = made(ask.normal(1_000_000))
    assert np.unique(values).size > 990_000
    assert abs(values.mean()) < 4e-3 and abs(values.std() - 1) < 3e-3


def test_ranges_and_forms() -> None:
    whole = made(ask.integers(100_000, low=-5, high=5))
    assert (whole.min(), whole.max()) == (-5, 4)
    assert made(ask.integers(1000, low=0, high=2**40, dtype="int64")).max() > 2**32
    assert sorted(made(ask.permutation(50))) == list(range(50))
    assert made(ask.ascending(4, step=0.5)).tolist() == [0, 0.5, 1, 1.5]
    spread = made(ask.uniform(10_000, low=2, high=3))
    assert 2 <= spread.min() < 2.01 and 2.99 < spread.max() <= 3
    assert (made(ask.constant(2, 2, value=7)) == 7).all()
    assert 1 <= made(ask.lengths(1000, 8)).min() <= made(ask.lengths(1000, 8)).max() == 8
    complex_ = made(ask.normal(10_000, dtype="complex64"))
    assert complex_.real.std() == pytest.approx(1, abs=0.05) and complex_.imag.std() == pytest.approx(1, abs=0.05)


def test_positive_definite_matrices_have_the_condition_that_was_asked() -> None:
    matrices = made(ask.spd(3, 20, condition=1000, dtype="float64"))
    assert matrices.shape == (3, 20, 20) and np.abs(matrices - matrices.transpose(0, 2, 1)).max() < 1e-15
    for matrix in matrices:
        assert np.linalg.cond(matrix) == pytest.approx(1000, rel=1e-4)
        assert np.linalg.eigvalsh(matrix).min() > 0


def test_what_no_type_holds_is_refused() -> None:
    for refused in (
        lambda: ask.integers(3, high=2**31 + 1),
        lambda: ask.integers(3, high=0),
        lambda: ask.normal(3, dtype="int32"),
        lambda: ask.normal(0),
    ):
        with pytest.raises(UserError):
            refused()
