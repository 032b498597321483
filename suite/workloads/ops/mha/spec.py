"""mha: multi-head self-attention without a mask (Vaswani et al. 2017, section 3.2.2), with biases.

Forward: Q, K, V = X @ Wqkv + bqkv; Y = concat(softmax(Q K^T / sqrt(H)) V) @ Wo + bo. Train:
mean-square loss of Y against T, gradients of the four parameters, AdamW update of them.
Legend: B = batch, S = T = seq, D = width, N = heads, H = D/N (width of a head).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from suite.workloads.layers import tables
from suite.workloads.layers.tables import Dims
from suite.workloads.tensors import Normal, Stress, nbytes

TITLE = "Multi-head self-attention"
SIZES = {
    "tiny": {"batch": 2, "seq": 6, "heads": 2, "width": 16},
    "quick": {"batch": 2, "seq": 64, "heads": 12, "width": 768},
    "full": {"batch": 2, "seq": 64, "heads": 12, "width": 768},
}
PASSES = ("forward", "train")
OPTIMIZER = "adamw"
STRESSED = {"qkv.*": Stress(7.0)}  # logits get a standard deviation of 50; float32's exp overflows at 88.7

target, items = tables.activations, tables.tokens
Array = NDArray[np.float64]


def check(dims: Dims) -> None:
    tables.check_multiple(dims, "width", "heads")


def parameters(dims: Dims) -> dict[str, Normal]:
    """Weights are (inputs, outputs); the columns of `qkv` are Q, then K, then V, each N heads of H."""
    d = dims["width"]
    return tables.dense("qkv", d, 3 * d) | tables.dense("out", d, d)


def inputs(dims: Dims) -> dict[str, Normal]:
    return {"x": tables.activations(dims)}


def flops(dims: Dims, pass_: str) -> int:
    """2 B S D 4D for the projections and 4 B S^2 D for attention. Train adds two products for each, but one for `qkv`,
    since X needs no gradient."""
    b, s, d = dims["batch"], dims["seq"], dims["width"]
    qkv, out, attention = 6 * b * s * d * d, 2 * b * s * d * d, 4 * b * s * s * d
    return 2 * qkv + 3 * out + 3 * attention if pass_ == "train" else qkv + out + attention


def bytes_floor(dims: Dims, pass_: str) -> int:
    """Forward reads X and the weights, writes Y. Train reads X, T; reads and writes weights and two moments."""
    weights = nbytes(parameters(dims)) * (6 if pass_ == "train" else 1)
    return weights + 2 * target(dims).nbytes


def reference(dims: Dims, parameters: Mapping[str, Array], x: Array, target: Array | None = None) -> dict[str, Array]:
    """float64 `output` and, with a target, `loss` and the gradient of each parameter by name."""
    w, wo = parameters["qkv.weight"], parameters["out.weight"]
    b, s, d = x.shape
    qkv = (x @ w + parameters["qkv.bias"]).reshape(b, s, 3, dims["heads"], -1)
    q, k, v = np.moveaxis(qkv, 2, 0)
    scale = q.shape[-1] ** -0.5
    logits = np.einsum("bsnh,btnh->bnst", q, k) * scale
    p = np.exp(logits - logits.max(axis=-1, keepdims=True))
    p /= p.sum(axis=-1, keepdims=True)
    o = np.einsum("bnst,btnh->bsnh", p, v).reshape(b, s, d)
    y = o @ wo + parameters["out.bias"]
    if target is None:
        return {"output": y}
    dy = 2.0 * (y - target) / y.size
    do = (dy @ wo.T).reshape(b, s, dims["heads"], -1)
    dp = np.einsum("bsnh,btnh->bnst", do, v)
    dlogits = p * (dp - (p * dp).sum(axis=-1, keepdims=True)) * scale
    dqkv = np.stack(
        [
            np.einsum("bnst,btnh->bsnh", dlogits, k),
            np.einsum("bnst,bsnh->btnh", dlogits, q),
            np.einsum("bnst,bsnh->btnh", p, do),
        ],
        axis=2,
    ).reshape(b, s, 3 * d)
    return {
        "output": y,
        "loss": np.asarray(np.mean((y - target) ** 2)),
        "qkv.weight": np.einsum("bsd,bse->de", x, dqkv),
        "qkv.bias": dqkv.sum(axis=(0, 1)),
        "out.weight": np.einsum("bsd,bse->de", o, dy),
        "out.bias": dy.sum(axis=(0, 1)),
    }
