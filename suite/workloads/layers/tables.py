"""What the specs of models share: sizes as a table, rules of dims, parameters of layers, a transformer block's work.

Legend: B = batch, S = seq, D = width, F = hidden.
"""

from __future__ import annotations

from collections.abc import Mapping

from suite.workloads.tensors import Integers, Normal, Tensor, fan_in

Dims = Mapping[str, int]


def sizes(table: str) -> dict[str, dict[str, int]]:
    """{size: dims} of a table whose first line names the dims, and each other line a size with its numbers."""
    dims, *lines = (line.split() for line in table.strip().splitlines())
    return {size: dict(zip(dims, map(int, numbers), strict=True)) for size, *numbers in lines}


def check_multiple(dims: Dims, dim: str, of: str) -> None:
    """Raises ValueError unless a dim is a multiple of another."""
    if dims[dim] % dims[of]:
        raise ValueError(f"{dim}={dims[dim]} must be a multiple of {of}={dims[of]}")


def check_seq(dims: Dims) -> None:
    """Raises ValueError for a sequence that is longer than the table of positions."""
    if dims["seq"] > dims["positions"]:
        raise ValueError(f"seq={dims['seq']} must not exceed positions={dims['positions']}")


def dense(name: str, inputs: int, outputs: int) -> dict[str, Normal]:
    """A weight (inputs, outputs) and a bias that isn't zero, so that a dropped one is caught."""
    return {f"{name}.weight": fan_in(inputs, outputs), f"{name}.bias": Normal((outputs,), inputs**-0.5)}


def norm(name: str, width: int) -> dict[str, Normal]:
    """Scale and shift of a layer norm, off 1 and 0, so that a dropped one is caught."""
    return {f"{name}.weight": Normal((width,), 0.1, mean=1.0), f"{name}.bias": Normal((width,), 0.1)}


def token_ids(dims: Dims) -> Tensor:
    """Token ids (B, S). As a target: the right token at every position, the last one too, so nothing is cut off."""
    return Integers((dims["batch"], dims["seq"]), dims["vocab"])


def token_inputs(dims: Dims) -> dict[str, Tensor]:
    return {"tokens": token_ids(dims)}


def activations(dims: Dims) -> Normal:
    """Activations (B, S, D)."""
    return Normal((dims["batch"], dims["seq"], dims["width"]))


def tokens(dims: Dims) -> tuple[int, str]:
    """The tokens of a step."""
    return dims["batch"] * dims["seq"], "tokens"


def block_flops(dims: Dims, seq: int) -> int:
    """A block's forward pass. A product (B S, m) @ (m, n) is 2 B S m n: four of D x D, one up to F and one down. Q K^T
    and P V are 2 B S^2 D each, whatever a mask leaves out, because a stack may compute it all."""
    b, d, f = dims["batch"], dims["width"], dims["hidden"]
    return 2 * b * seq * (4 * d * d + 2 * d * f) + 4 * b * seq * seq * d


def language_model_flops(dims: Dims, pass_: str, head: int) -> int:
    """Blocks, and a head with so many weights. Train is three times forward: each product has two gradients, even the
    first, whose input depends on the embeddings. Lookups have no FLOPs."""
    forward = dims["layers"] * block_flops(dims, dims["seq"]) + 2 * dims["batch"] * dims["seq"] * head
    return 3 * forward if pass_ == "train" else forward


def unread_positions(dims: Dims) -> int:
    """The bytes of the table of positions that a sequence doesn't reach."""
    return 4 * (dims["positions"] - dims["seq"]) * dims["width"]


def logits_bytes(dims: Dims) -> int:
    """The bytes of logits (B, S, V)."""
    return 4 * dims["batch"] * dims["seq"] * dims["vocab"]
