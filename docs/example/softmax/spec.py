"""softmax: the row-wise softmax, the normalisation inside attention and at the end of a classifier.

Forward: Y = exp(X) / sum(exp(X)), the sum over the columns of a row. Train: mean-square loss of Y
against T and its gradient with respect to X, nothing updated.
Legend: R = rows, C = columns.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from suite.workloads.tensors import Normal, Stress

TITLE = "Row-wise softmax and its gradient"
SIZES = {
    "tiny": {"rows": 8, "columns": 16},
    "quick": {"rows": 1024, "columns": 1024},
    "full": {"rows": 3072, "columns": 3072},
}
PASSES = ("forward", "train")
OPTIMIZER = None  # the gradient itself is the result
GROWS = ("rows", "columns")
STRESSED = {"x": Stress(50.0)}  # exp overflows float32 at 88.7: a softmax without its maximum is caught

Dims = Mapping[str, int]
Array = NDArray[np.float64]


def check(dims: Dims) -> None:
    """Raises ValueError naming the rule that the dims break."""
    if dims["columns"] < 2:
        raise ValueError("the softmax of a single column is 1 whatever X is: columns must be at least 2")


def parameters(dims: Dims) -> dict[str, Normal]:
    """X (R, C): what the gradient is taken of."""
    return {"x": Normal((dims["rows"], dims["columns"]))}


def inputs(dims: Dims) -> dict[str, Normal]:
    """None besides X."""
    return {}


def target(dims: Dims) -> Normal:
    """T (R, C)."""
    return Normal((dims["rows"], dims["columns"]))


def flops(dims: Dims, pass_: str) -> int:
    """No dots and no convolutions: nothing that the analytic count covers."""
    return 0


def bytes_floor(dims: Dims, pass_: str) -> int:
    """Forward reads X and writes Y; train reads X and T and writes dX. Four bytes a value."""
    return 4 * dims["rows"] * dims["columns"] * (3 if pass_ == "train" else 2)


def items(dims: Dims) -> tuple[int, str]:
    """Rows of X."""
    return dims["rows"], "rows"


def reference(dims: Dims, parameters: Mapping[str, Array], target: Array | None = None) -> dict[str, Array]:
    """float64 `output` and, with a target, `loss` and the gradient of X."""
    x = parameters["x"]
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    y = e / e.sum(axis=-1, keepdims=True)
    if target is None:
        return {"output": y}
    dy = 2.0 * (y - target) / y.size
    dx = y * (dy - np.sum(dy * y, axis=-1, keepdims=True))
    return {"output": y, "loss": np.asarray(np.mean((y - target) ** 2)), "x": dx}
