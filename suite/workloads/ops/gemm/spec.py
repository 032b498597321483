"""gemm: the product A @ B of two distinct matrices, the core of every dense layer.

Forward: Y = A @ B. Train: mean-square loss of Y against T, gradient of B, AdamW update of B.
Legend, as in BLAS: A is (M, K), B is (K, N), Y is (M, N). They are square unless m or k is given.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from suite.workloads.tensors import Normal, fan_in

TITLE = "Matrix product A @ B"
SIZES = {"tiny": {"n": 64}, "quick": {"n": 1024}, "full": {"n": 3000}}
SAME_AS = {"m": "n", "k": "n"}
PASSES = ("forward", "train")
OPTIMIZER = "adamw"

Dims = Mapping[str, int]
Array = NDArray[np.float64]


def sides(dims: Dims) -> tuple[int, int, int]:
    """Returns (M, N, K)."""
    n = dims["n"]
    return dims.get("m", n), n, dims.get("k", n)


def parameters(dims: Dims) -> dict[str, Normal]:
    """Returns the matrix B, of shape (K, N)."""
    _, n, k = sides(dims)
    return {"b": fan_in(k, n)}


def inputs(dims: Dims) -> dict[str, Normal]:
    """Returns the matrix A, of shape (M, K)."""
    m, _, k = sides(dims)
    return {"a": Normal((m, k))}


def target(dims: Dims) -> Normal:
    """Returns the matrix T, of shape (M, N)."""
    m, n, _ = sides(dims)
    return Normal((m, n))


def flops(dims: Dims, pass_: str) -> int:
    """2 M N K for Y. Train adds one product, A^T @ dY, since A needs no gradient."""
    return 2 * math.prod(sides(dims)) * (2 if pass_ == "train" else 1)


def bytes_floor(dims: Dims, pass_: str) -> int:
    """Forward reads A, B and writes Y. Train reads A, B, T and both AdamW moments, writes B and moments."""
    m, n, k = sides(dims)
    return 4 * (m * k + m * n + k * n * (6 if pass_ == "train" else 1))


def items(dims: Dims) -> tuple[int, str]:
    """The rows of A."""
    return sides(dims)[0], "rows"


def reference(dims: Dims, parameters: Mapping[str, Array], a: Array, target: Array | None = None) -> dict[str, Array]:
    """float64 `output` and, with a target, `loss` and the gradient of each parameter by name."""
    y = a @ parameters["b"]
    if target is None:
        return {"output": y}
    dy = 2.0 * (y - target) / y.size
    return {"output": y, "loss": np.asarray(np.mean((y - target) ** 2)), "b": a.T @ dy}
