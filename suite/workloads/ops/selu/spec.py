"""selu: the scaled exponential linear unit (Klambauer et al. 2017, arXiv:1706.02515) over a square array.

Forward: Y = LAMBDA (x if x > 0 else ALPHA (exp(x) - 1)), with the rounded constants of the primer, which
times it: ALPHA 1.67, LAMBDA 1.05. Train: mean-square loss of Y against T and its gradient with respect
to X; nothing is updated. It is memory-bound and element-wise: eager execution pays for every operation, and
a compiler fuses them, so this workload shows eager against compiled execution.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from suite.workloads.tensors import Normal

TITLE = "SELU activation and its gradient"
SIZES = {"tiny": {"n": 64}, "quick": {"n": 1024}, "full": {"n": 3000}}
PASSES = ("forward", "train")
OPTIMIZER = None  # the gradient itself is the result

ALPHA = 1.67
LAMBDA = 1.05

Dims = Mapping[str, int]
Array = NDArray[np.float64]


def parameters(dims: Dims) -> dict[str, Normal]:
    """X (N, N): what the gradient is taken of."""
    return {"x": Normal((dims["n"], dims["n"]))}


def inputs(dims: Dims) -> dict[str, Normal]:
    """There are none: X is a parameter."""
    return {}


def target(dims: Dims) -> Normal:
    """T (N, N)."""
    return Normal((dims["n"], dims["n"]))


def flops(dims: Dims, pass_: str) -> int:
    """0: only dots and convolutions count, and there are none."""
    return 0


def bytes_floor(dims: Dims, pass_: str) -> int:
    """Forward reads X and writes Y; train reads X and T and writes dX."""
    return 4 * dims["n"] ** 2 * (3 if pass_ == "train" else 2)


def items(dims: Dims) -> tuple[int, str]:
    """The rows of X."""
    return dims["n"], "rows"


def reference(dims: Dims, parameters: Mapping[str, Array], target: Array | None = None) -> dict[str, Array]:
    """float64 `output` and, with a target, `loss` and the gradient of X."""
    x = parameters["x"]
    y = LAMBDA * np.where(x > 0, x, ALPHA * np.expm1(x))
    if target is None:
        return {"output": y}
    dy = 2.0 * (y - target) / y.size
    return {
        "output": y,
        "loss": np.asarray(np.mean((y - target) ** 2)),
        "x": dy * LAMBDA * np.where(x > 0, 1.0, ALPHA * np.exp(x)),
    }
