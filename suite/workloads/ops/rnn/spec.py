"""rnn: a layer of long short-term memory (Hochreiter & Schmidhuber 1997) with a forget gate (Gers et al. 2000), as
PyTorch documents nn.LSTM, but with one bias: a second one adds nothing, and Keras and Flax have none.

For each step t, from h = c = 0:
    i, f, g, o = split(x_t @ W + b + h @ U)
    c = sigmoid(f) * c + sigmoid(i) * tanh(g)
    h = sigmoid(o) * tanh(c)
Forward: Y, all hidden states h. Train: mean-square loss of Y against T, gradients of W, U, b, AdamW update of the
three. W is `weight_ih_l0` (input to hidden, layer 0), U `weight_hh_l0`, b `bias_ih_l0`.
Legend: B = batch, S = seq (the steps), D = width (of inputs), H = hidden, G = 4*H (gates i, f, g, o: Keras's order).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from suite.workloads.layers import tables
from suite.workloads.layers.tables import Dims
from suite.workloads.tensors import Normal, fan_in, nbytes

TITLE = "LSTM layer"
# Batch and widths of Zaremba et al. 2014 (arXiv:1409.2329, section 4.1; its first model, its medium and large one),
# over longer sequences than its 20 and 35 steps.
SIZES = tables.sizes("""
            batch  seq  width  hidden
    tiny        2    6      8      12
    odd         3    5      7      11
    quick      20   64    200     200
    small      20  512    200     200
    full       20  512    650     650
    large     128  512   1500    1500
""")
PASSES = ("forward", "train")
OPTIMIZER = "adamw"

items = tables.tokens
Array = NDArray[np.float64]


def parameters(dims: Dims) -> dict[str, Normal]:
    d, h = dims["width"], dims["hidden"]
    return {
        "lstm.weight_ih_l0": fan_in(d, 4 * h),
        "lstm.weight_hh_l0": fan_in(h, 4 * h),
        "lstm.bias_ih_l0": Normal((4 * h,), d**-0.5),
    }


def inputs(dims: Dims) -> dict[str, Normal]:
    return {"x": tables.activations(dims)}


def target(dims: Dims) -> Normal:
    """Hidden states (B, S, H)."""
    return Normal((dims["batch"], dims["seq"], dims["hidden"]))


def flops(dims: Dims, pass_: str) -> int:
    """2 B S D G for the inputs, 2 B S H G for the recurrence. Train adds two products for the recurrence, but one for
    the inputs, since X needs no gradient."""
    rows, d, h = dims["batch"] * dims["seq"], dims["width"], dims["hidden"]
    inputs, recurrence = 8 * rows * d * h, 8 * rows * h * h
    return 2 * inputs + 3 * recurrence if pass_ == "train" else inputs + recurrence


def bytes_floor(dims: Dims, pass_: str) -> int:
    """Forward reads X and the weights, writes Y. Train reads X, T; reads and writes weights and two moments."""
    weights = nbytes(parameters(dims)) * (6 if pass_ == "train" else 1)
    return weights + nbytes(inputs(dims)) + target(dims).nbytes


def sigmoid(x: Array) -> Array:
    return 0.5 * (1.0 + np.tanh(0.5 * x))


def reference(dims: Dims, parameters: Mapping[str, Array], x: Array, target: Array | None = None) -> dict[str, Array]:
    """float64 `output` and, with a target, `loss` and the gradient of each parameter by name."""
    w, u, bias = (parameters[f"lstm.{name}_l0"] for name in ("weight_ih", "weight_hh", "bias_ih"))
    rows = x @ w + bias
    h = c = start = np.zeros((x.shape[0], dims["hidden"]))
    steps, hidden = [], []
    for t in range(x.shape[1]):
        i, f, g, o = np.split(rows[:, t] + h @ u, 4, axis=1)
        i, f, g, o = sigmoid(i), sigmoid(f), np.tanh(g), sigmoid(o)
        before, c = c, f * c + i * g
        h = o * np.tanh(c)
        steps.append((i, f, g, o, before, np.tanh(c)))
        hidden.append(h)
    y = np.stack(hidden, axis=1)
    if target is None:
        return {"output": y}
    dy = 2.0 * (y - target) / y.size
    drows = np.empty_like(rows)
    dh = dc = np.zeros_like(start)
    for t, (i, f, g, o, before, tanh) in reversed(list(enumerate(steps))):
        dh = dh + dy[:, t]
        dc = dc + dh * o * (1.0 - tanh**2)
        slopes = dc * g * i * (1.0 - i), dc * before * f * (1.0 - f), dc * i * (1.0 - g**2), dh * tanh * o * (1.0 - o)
        drows[:, t] = np.concatenate(slopes, axis=1)
        dh, dc = drows[:, t] @ u.T, dc * f
    h_before = np.stack([start, *hidden[:-1]], axis=1)
    return {
        "output": y,
        "loss": np.asarray(np.mean((y - target) ** 2)),
        "lstm.weight_ih_l0": np.tensordot(x, drows, axes=((0, 1), (0, 1))),
        "lstm.weight_hh_l0": np.tensordot(h_before, drows, axes=((0, 1), (0, 1))),
        "lstm.bias_ih_l0": drows.sum(axis=(0, 1)),
    }
