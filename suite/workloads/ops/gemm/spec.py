"""gemm: the product A @ B of two distinct square matrices, the core of every dense layer.

Forward: Y = A @ B. Train: mean-square loss of Y against T, gradient of B, AdamW update of B.
Legend: N = n, the side of the matrices.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from suite.workloads.tensors import Normal, fan_in

TITLE = "Matrix product A @ B"
SIZES = {"tiny": {"n": 64}, "quick": {"n": 1024}, "full": {"n": 3000}}
PASSES = ("forward", "train")
OPTIMIZER = "adamw"

Dims = Mapping[str, int]
Array = NDArray[np.float64]


def parameters(dims: Dims) -> dict[str, Normal]:
    """Returns the matrix B, of shape (N, N)."""
    return {"b": fan_in(dims["n"], dims["n"])}


def inputs(dims: Dims) -> dict[str, Normal]:
    """Returns the matrix A, of shape (N, N)."""
    return {"a": Normal((dims["n"], dims["n"]))}


def target(dims: Dims) -> Normal:
    """Returns the matrix T, of shape (N, N)."""
    return Normal((dims["n"], dims["n"]))


def flops(dims: Dims, pass_: str) -> int:
    """2 N^3 for Y. Train adds one product, A^T @ dY, since A needs no gradient."""
    return 2 * dims["n"] ** 3 * (2 if pass_ == "train" else 1)


def bytes_floor(dims: Dims, pass_: str) -> int:
    """Forward reads A, B and writes Y. Train reads A, B, T and both AdamW moments, writes B and moments."""
    return 4 * dims["n"] ** 2 * (8 if pass_ == "train" else 3)


def items(dims: Dims) -> tuple[int, str]:
    """The rows of A."""
    return dims["n"], "rows"


def reference(dims: Dims, parameters: Mapping[str, Array], a: Array, target: Array | None = None) -> dict[str, Array]:
    """float64 `output` and, with a target, `loss` and the gradient of each parameter by name."""
    y = a @ parameters["b"]
    if target is None:
        return {"output": y}
    dy = 2.0 * (y - target) / y.size
    return {"output": y, "loss": np.asarray(np.mean((y - target) ** 2)), "b": a.T @ dy}
