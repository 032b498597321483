"""gpt2: GPT-2 Small with its language-model head (Radford et al. 2019, section 2.3; the released configuration).

Pre-norm blocks, tanh GELU, learned positions, head tied to the token embedding, no dropout. Train: mean
cross-entropy over all positions against given target tokens, one AdamW step.
Legend: B = batch, T = seq, D = width, N = heads, H = D/N, F = hidden, V = vocab, P = positions, L = layers.
"""

from __future__ import annotations

from collections.abc import Mapping

from suite.workloads.tensors import Integers, Normal, Stress, Tensor, fan_in

TITLE = "GPT-2 Small"
SIZES = {
    "tiny": {"batch": 2, "seq": 13, "layers": 2, "heads": 2, "width": 32, "hidden": 128, "vocab": 67, "positions": 16},
    "odd": {"batch": 1, "seq": 7, "layers": 1, "heads": 3, "width": 27, "hidden": 50, "vocab": 31, "positions": 9},
    "small": {
        "batch": 2,
        "seq": 64,
        "layers": 4,
        "heads": 4,
        "width": 256,
        "hidden": 1024,
        "vocab": 8192,
        "positions": 256,
    },
    "full": {
        "batch": 2,
        "seq": 64,
        "layers": 12,
        "heads": 12,
        "width": 768,
        "hidden": 3072,
        "vocab": 50257,
        "positions": 1024,
    },
}
SIZES["large"] = SIZES["full"] | {"batch": 8, "seq": 1024}  # what an accelerator is bought for
PASSES = ("forward", "train")
OPTIMIZER = "adamw"
EPSILON = 1e-5  # of every layer norm
# The first norm's input has a variance near its epsilon, later norms' inputs have means of some 100 to 300 standard
# deviations, and the logits of the first attention and of the model overflow float32's exp.
STRESSED = {
    "tokens.weight": Stress(0.1),
    "positions.weight": Stress(0.1),
    "blocks.0.attention.qkv.*": Stress(12.0),
    "blocks.*.attention.out.bias": Stress(shift=1000.0),
    "blocks.*.mlp.down.bias": Stress(shift=1000.0),
    "norm.weight": Stress(1e3),
}

Dims = Mapping[str, int]


def check(dims: Dims) -> None:
    """Raises ValueError naming the rule that the dims break."""
    if dims["width"] % dims["heads"]:
        raise ValueError(f"width={dims['width']} must be a multiple of heads={dims['heads']}")
    if dims["seq"] > dims["positions"]:
        raise ValueError(f"seq={dims['seq']} must not exceed positions={dims['positions']}")


def parameters(dims: Dims) -> dict[str, Tensor]:
    """In order of use. `qkv` has the columns of Q, then K, then V. The token embedding is also the head."""
    d, f = dims["width"], dims["hidden"]
    tensors: dict[str, Tensor] = {
        "tokens.weight": Normal((dims["vocab"], d), d**-0.5),  # tied: logits have about unit variance
        "positions.weight": Normal((dims["positions"], d), d**-0.5),
    }
    for layer in range(dims["layers"]):
        block = f"blocks.{layer}"
        tensors |= norm(f"{block}.norm1", d)
        tensors |= dense(f"{block}.attention.qkv", d, 3 * d) | dense(f"{block}.attention.out", d, d)
        tensors |= norm(f"{block}.norm2", d)
        tensors |= dense(f"{block}.mlp.up", d, f) | dense(f"{block}.mlp.down", f, d)
    return tensors | norm("norm", d)


def dense(name: str, inputs: int, outputs: int) -> dict[str, Tensor]:
    """A weight (inputs, outputs) and a bias that isn't zero, so that a dropped one is caught."""
    return {f"{name}.weight": fan_in(inputs, outputs), f"{name}.bias": Normal((outputs,), inputs**-0.5)}


def norm(name: str, width: int) -> dict[str, Tensor]:
    """A layer norm's scale, near 1, and shift."""
    return {f"{name}.weight": Normal((width,), 0.1, mean=1.0), f"{name}.bias": Normal((width,), 0.1)}


def inputs(dims: Dims) -> dict[str, Tensor]:
    """Token ids (B, T)."""
    return {"tokens": Integers((dims["batch"], dims["seq"]), dims["vocab"])}


def target(dims: Dims) -> Tensor:
    """The token after each position (B, T). It is given also for the last position, so nothing is cut off."""
    return Integers((dims["batch"], dims["seq"]), dims["vocab"])


def flops(dims: Dims, pass_: str) -> int:
    """A layer's products with weights are 2 B T (4 D^2 + 2 D F), its attention 4 B T^2 D; the head is 2 B T D V. Train
    is three times that."""
    b, t, d, f = dims["batch"], dims["seq"], dims["width"], dims["hidden"]
    block = 2 * b * t * (3 * d * d + d * d + 2 * d * f) + 4 * b * t * t * d
    forward = dims["layers"] * block + 2 * b * t * d * dims["vocab"]
    return 3 * forward if pass_ == "train" else forward


def bytes_floor(dims: Dims, pass_: str) -> int:
    """Forward reads the weights, of the positions only those of the sequence, and writes the logits. Train reads and
    writes weights and two moments: weight decay moves positions that no token has, too."""
    weights = sum(tensor.nbytes for tensor in parameters(dims).values())
    if pass_ == "train":
        return 6 * weights
    unread = 4 * (dims["positions"] - dims["seq"]) * dims["width"]
    logits = 4 * dims["batch"] * dims["seq"] * dims["vocab"]
    return weights - unread + logits


def items(dims: Dims) -> tuple[int, str]:
    """The tokens of a step."""
    return dims["batch"] * dims["seq"], "tokens"
