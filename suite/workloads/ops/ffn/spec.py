"""ffn: the feed-forward block of a transformer (Vaswani et al. 2017, section 3.3) with tanh GELU.

Forward: Y = gelu(X @ W1 + b1) @ W2 + b2. Train: mean-square loss of Y against T, gradients of
W1, b1, W2, b2, AdamW update of the four.
Legend: B = batch, S = seq, D = width, F = hidden.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from suite.workloads.layers import tables
from suite.workloads.layers.tables import Dims
from suite.workloads.tensors import Normal, nbytes

TITLE = "Feed-forward block: linear, tanh GELU, linear"
SIZES = {
    "tiny": {"batch": 2, "seq": 4, "width": 16, "hidden": 64},
    "quick": {"batch": 2, "seq": 64, "width": 768, "hidden": 3072},
    "full": {"batch": 2, "seq": 64, "width": 768, "hidden": 3072},
}
PASSES = ("forward", "train")
OPTIMIZER = "adamw"

# GELU's tanh form (Hendrycks & Gimpel 2016, arXiv:1606.08415, section 2).
CUBIC = 0.044715
SCALE = np.sqrt(2.0 / np.pi)

target, items = tables.activations, tables.tokens
Array = NDArray[np.float64]


def parameters(dims: Dims) -> dict[str, Normal]:
    d, f = dims["width"], dims["hidden"]
    return tables.dense("up", d, f) | tables.dense("down", f, d)


def inputs(dims: Dims) -> dict[str, Normal]:
    return {"x": tables.activations(dims)}


def flops(dims: Dims, pass_: str) -> int:
    """2 B S D F for each product. Train adds two products for `down`, but one for `up`, since X needs no gradient."""
    product = 2 * dims["batch"] * dims["seq"] * dims["width"] * dims["hidden"]
    return product * (5 if pass_ == "train" else 2)


def bytes_floor(dims: Dims, pass_: str) -> int:
    """Forward reads X and the weights, writes Y. Train reads X, T; reads and writes weights and two moments."""
    weights = nbytes(parameters(dims)) * (6 if pass_ == "train" else 1)
    return weights + 2 * target(dims).nbytes


def reference(dims: Dims, parameters: Mapping[str, Array], x: Array, target: Array | None = None) -> dict[str, Array]:
    """float64 `output` and, with a target, `loss` and the gradient of each parameter by name."""
    w1, w2 = parameters["up.weight"], parameters["down.weight"]
    h = x @ w1 + parameters["up.bias"]
    t = np.tanh(SCALE * (h + CUBIC * h**3))
    g = 0.5 * h * (1.0 + t)
    y = g @ w2 + parameters["down.bias"]
    if target is None:
        return {"output": y}
    dy = 2.0 * (y - target) / y.size
    slope = 0.5 * (1.0 + t) + 0.5 * h * (1.0 - t**2) * SCALE * (1.0 + 3.0 * CUBIC * h**2)
    dh = (dy @ w2.T) * slope
    return {
        "output": y,
        "loss": np.asarray(np.mean((y - target) ** 2)),
        "up.weight": np.einsum("bsd,bsf->df", x, dh),
        "up.bias": dh.sum(axis=(0, 1)),
        "down.weight": np.einsum("bsf,bsd->fd", g, dy),
        "down.bias": dy.sum(axis=(0, 1)),
    }
