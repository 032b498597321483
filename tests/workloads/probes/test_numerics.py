"""The probe of numerics: results in, figures and class out; wrong results are told apart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from suite.workloads.catalog import HOME, load

SPEC = load(HOME / "probes" / "numerics").spec
DIMS = SPEC.SIZES["tiny"]
Array = NDArray[Any]


def to_bfloat16(x: Array) -> Array:
    """Rounded to 8 bits, to the nearest."""
    bits = x.astype(np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32)


def summed_in_bfloat16(x: Array, y: Array) -> Array:
    total = np.zeros((len(x), len(y)), np.float32)
    for k in range(len(y)):
        total = to_bfloat16(total + np.outer(to_bfloat16(x[:, k]), to_bfloat16(y[k])))
    return total


def flushed(x: Array, smallest: float = 2.0**-126) -> Array:
    return np.where(np.abs(x) < smallest, np.float32(0), x)


def saturated(x: Array) -> Array:
    return np.nan_to_num(np.clip(x.astype(np.float64), -(2**31), 2**31 - 1)).astype(np.int32)


def lanes(x: Array) -> Array:
    return np.cumsum(x.reshape(-1, 8), axis=0, dtype=np.float32)[-1].sum()


RESULTS: list[tuple[str, Callable[..., Any], str]] = [
    ("matmul", lambda x, y: x @ y, "float32"),
    ("matmul", lambda x, y: to_bfloat16(x) @ to_bfloat16(y), "tf32 or bfloat16"),
    ("matmul_bf16", lambda x, y: to_bfloat16(to_bfloat16(x) @ to_bfloat16(y)), "bfloat16"),
    ("matmul_bf16", lambda x, y: x @ y, "float32"),
    ("matmul_bf16", summed_in_bfloat16, "summed in bfloat16"),
    ("sum", lambda x: x.sum(), "pairwise or better"),
    ("sum", lambda x: np.float32(x.astype(np.float64).sum()), "pairwise or better"),
    ("sum", lambda x: np.cumsum(x, dtype=np.float32)[-1], "naive"),
    ("sum", lanes, "naive"),
    ("nan_maximum", np.maximum, "propagates"),
    ("nan_maximum", np.fmax, "ignores"),
    ("nan_maximum", lambda x, y: np.where(x > y, x, y), "by its place"),
    ("nan_max", lambda rows: rows.max(axis=1), "propagates"),
    ("nan_max", lambda rows: np.nanmax(rows, axis=1), "ignores"),
    ("nan_max_large", lambda rows: np.where(np.arange(len(rows)) < 8, np.nan, np.nanmax(rows, axis=1)), "by its place"),
    ("nan_max_large", lambda rows: np.where(np.arange(len(rows)) < 250, 259, 258), "loses values"),
    ("nan_max_columns", lambda rows: rows.max(axis=0), "propagates"),
    ("nan_max_columns", lambda rows: np.nanmax(rows, axis=0), "ignores"),
    ("nan_max_columns", lambda rows: np.full(rows.shape[1], -np.inf), "loses values"),
    ("nan_compare", lambda x, y: (x == y, x != y, x < y, x >= y), "IEEE 754"),
    ("nan_compare", lambda x, y: (x == y, x != y, x < y, ~(x < y)), "not IEEE 754"),
    ("subnormal", lambda x, y: x * y, "kept"),
    ("subnormal", lambda x, y: flushed(flushed(x) * flushed(y)), "flushed to zero"),
    ("subnormal", lambda x, y: np.where(x == y, flushed(x * y), x), "operands alone are kept"),
    ("subnormal", lambda x, y: flushed(x) * y, "results alone are kept"),
    ("subnormal", lambda x, y: np.concatenate([(x * y)[:64], flushed(x * y)[64:]]), "in part"),
    ("overflow", lambda x: np.full_like(x, np.inf), "inf"),
    ("overflow", lambda x: np.full_like(x, 3e38), "finite"),
    ("int_overflow", lambda x: x + 1, "wraps"),
    ("int_overflow", lambda x: x, "saturates"),
    ("float_to_int", saturated, "saturates"),
    ("float_to_int", lambda x: np.full(len(x), -(2**31), np.int32), "the lowest int32"),
    ("float_to_int", lambda x: np.full(len(x), 10**10 % 2**32, np.int32), "wraps"),
    ("float_to_int", lambda x: np.append(saturated(x[:-3]), np.zeros(3, np.int32)), "varies"),
    ("divide_by_zero", lambda x, y: y, "0"),
    ("divide_by_zero", lambda x, y: y - 1, "-1"),
    ("divide_by_zero", lambda x, y: y - 2, "-2"),
    ("divide_by_zero", lambda x, y: y + 7, "another value"),
    ("divide_by_zero", lambda x, y: np.where(x > 0, 2**31 - 1, -(2**31)), "saturates"),
]


@pytest.mark.parametrize(("aspect", "function", "expected"), RESULTS)
def test_results_have_their_class(aspect: str, function: Callable[..., Any], expected: str) -> None:
    operands = SPEC.given(aspect, DIMS)
    results = function(*operands)
    figures = SPEC.figures(aspect, operands, results if isinstance(results, tuple) else [np.asarray(results)])
    assert SPEC.classify(aspect, figures) == expected
    assert expected in SPEC.CLASSES
    assert set(figures) <= set(SPEC.FIGURES)


def test_whole_integers_are_spoken() -> None:
    told = {"value": [-1.0, 2147483647.0], "from_minus": [-2147483648.0], "from_nan": [0.0]}
    assert SPEC.spoken(told) == "-1 or 2,147,483,647, of the negative -2,147,483,648, of nan 0"
    assert SPEC.spoken({"error": 1e-7}) == ""
