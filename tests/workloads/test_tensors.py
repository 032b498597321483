"""Weights and inputs: the same bits everywhere, independent of order, and normal."""

from __future__ import annotations

import hashlib
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from suite.workloads import tensors
from suite.workloads.tensors import Normal, fan_in, generate, generate_all

# sha256 of the little-endian float32 bytes. A change here breaks every stored result's weights.
GOLDEN = (
    (Normal((1000,)), "parameter/b", 0, "829638c7db2ecae7bfbdeb6737fd79d0edb9c3f6d74bedd88600d33c64cf776c"),
    (fan_in(64, 48), "parameter/up.weight", 7, "1354843e2154593be0c7fce98dd3d7a1c3cb7f835c28b442bdaac20221b9f110"),
    (Normal((3, 5, 7), 2.5), "batch/x", 2**63, "bc469b977285606a415485bcbfee38facb11b365bb58e48c684df4f41f30e2a0"),
)
FIRST = ("-0x1.453a1c0000000p+0", "0x1.1cafee0000000p-1", "-0x1.a064dc0000000p-1")


def digest(values: NDArray[Any]) -> str:
    return hashlib.sha256(values.astype("<f4").tobytes()).hexdigest()


@pytest.mark.parametrize(("tensor", "name", "seed", "expected"), GOLDEN)
def test_golden_digests(tensor: Normal, name: str, seed: int, expected: str) -> None:
    values = generate(tensor, name, seed)
    assert values.dtype == np.float32 and values.shape == tensor.shape and values.flags.c_contiguous
    assert digest(values) == expected


def test_golden_values() -> None:
    assert [float(x).hex() for x in generate(Normal((3,)), "parameter/b", 0)] == list(FIRST)


def test_a_value_depends_on_its_position_alone() -> None:
    long, short = (generate(Normal((n,)), "x", 3) for n in (5000, 17))
    assert np.array_equal(long[:17], short)
    assert np.array_equal(generate(Normal((50, 100)), "x", 3).ravel(), long)


@pytest.mark.parametrize("chunk", [1, 7, 64, 999, 1000])
def test_chunks_do_not_show(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tensors, "CHUNK", chunk)
    assert digest(generate(*GOLDEN[0][:3])) == GOLDEN[0][3]


def test_the_order_of_tensors_does_not_matter() -> None:
    asked = {"b": Normal((9,)), "a": Normal((4, 4), 0.5)}
    one = dict(generate_all(asked, "parameter", 1))
    other = dict(generate_all(dict(reversed(asked.items())), "parameter", 1))
    assert list(one) == ["b", "a"]
    assert all(np.array_equal(one[name], other[name]) for name in asked)
    assert np.array_equal(one["a"], generate(asked["a"], "parameter/a", 1))


@settings(max_examples=40)
@given(st.lists(st.tuples(st.text(max_size=8), st.integers(0, 2**64)), min_size=2, max_size=4, unique=True))
def test_other_names_and_seeds_give_other_values(keys: list[tuple[str, int]]) -> None:
    made = [generate(Normal((8,)), name, seed).tobytes() for name, seed in keys]
    assert len(set(made)) == len(made)


def test_streams_of_two_tensors_are_uncorrelated() -> None:
    a, b = (generate(Normal((200_000,)), name, 0).astype(np.float64) for name in ("batch/x", "batch/target"))
    assert abs(np.corrcoef(a, b)[0, 1]) < 0.01
    assert abs(np.corrcoef(a[:-1], a[1:])[0, 1]) < 0.01


@pytest.mark.parametrize("sigma", [1.0, 1 / 28, 2.5])
def test_values_are_normal(sigma: float) -> None:
    x = generate(Normal((400_000,), sigma), "x", 1).astype(np.float64) / sigma
    assert abs(x.mean()) < 0.006
    assert abs(x.std() - 1) < 0.005
    assert abs(stats.skew(x)) < 0.02
    assert abs(stats.kurtosis(x)) < 0.06  # the sum of eight alone would have -0.15
    assert stats.kstest(x, "norm").statistic < 0.004
    assert 4 < np.abs(x).max() < 6


def test_sigma_scales_the_same_values() -> None:
    one, two = (generate(Normal((1000,), sigma), "x", 0) for sigma in (1.0, 2.0))
    assert np.array_equal(2 * one, two)


def test_fan_in_counts_all_but_the_outputs() -> None:
    assert fan_in(768, 3072) == Normal((768, 3072), 1 / math.sqrt(768))
    assert fan_in(3, 3, 64, 128).sigma == 1 / math.sqrt(3 * 3 * 64)


def test_sizes() -> None:
    tensor = Normal((2, 3, 4))
    assert (tensor.size, tensor.nbytes) == (24, 96)
    assert Normal(()).size == 1 and generate(Normal(()), "scalar", 0).shape == ()
