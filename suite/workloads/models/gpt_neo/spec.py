"""gpt_neo: GPT-Neo 1.3B, a decoder-only transformer whose odd layers attend only to a sliding window.

Black et al. 2021, "GPT-Neo: large scale autoregressive language modeling with Mesh-TensorFlow", zenodo.5297715;
sizes and constants of the released configuration `EleutherAI/gpt-neo-1.3B`. It is like GPT-2 (pre-norm blocks, tanh
GELU, learned positions, head tied to the token embedding, no dropout), but: layers 0, 2, ... are global and 1, 3, ...
local (a token attends to itself and the W - 1 tokens before it), attention logits aren't scaled by 1/sqrt(H), and Q, K
and V are separate projections, without a bias.
At `full` the sequence is shorter than the window, so local layers attend to the same tokens as global ones; at the
other sizes they don't.
Forward: the logits. Train: mean cross-entropy of all positions against given target tokens, gradients of
all parameters, AdamW update of them.
Legend: B = batch, T = S = seq, D = width, N = heads, H = D/N (width of a head), F = hidden, V = vocab, W = window.
"""

from __future__ import annotations

from collections.abc import Mapping

from suite.workloads.tensors import Integers, Normal, Stress, Tensor, fan_in

TITLE = "GPT-Neo 1.3B"
SIZES = {
    "tiny": {
        "batch": 2,
        "seq": 13,
        "layers": 2,
        "heads": 2,
        "width": 32,
        "hidden": 128,
        "vocab": 67,
        "positions": 16,
        "window": 4,
    },
    "odd": {
        "batch": 1,
        "seq": 11,
        "layers": 3,
        "heads": 3,
        "width": 27,
        "hidden": 50,
        "vocab": 31,
        "positions": 11,
        "window": 5,
    },
    "small": {
        "batch": 2,
        "seq": 64,
        "layers": 4,
        "heads": 4,
        "width": 256,
        "hidden": 1024,
        "vocab": 8192,
        "positions": 256,
        "window": 32,
    },
    # Two published blocks, with a sequence longer than the window. The oracle takes 7 GB; at `full` it would take 42.
    "blocks": {
        "batch": 1,
        "seq": 320,
        "layers": 2,
        "heads": 16,
        "width": 2048,
        "hidden": 8192,
        "vocab": 50257,
        "positions": 2048,
        "window": 256,
    },
    "full": {
        "batch": 2,
        "seq": 64,
        "layers": 24,
        "heads": 16,
        "width": 2048,
        "hidden": 8192,
        "vocab": 50257,
        "positions": 2048,
        "window": 256,
    },
}
SIZES["large"] = SIZES["full"] | {"batch": 4, "seq": 1024}  # what an accelerator is bought for
PASSES = ("forward", "train")
OPTIMIZER = "adamw"

EPSILON = 1e-5  # of the layer norms, inside the root: `layer_norm_epsilon` of the configuration
# The first norm's input has a variance near its epsilon, later norms' inputs have means of some 100 to 300 standard
# deviations, and the logits of the first attention and of the model overflow float32's exp.
STRESSED = {
    "tokens.weight": Stress(0.1),
    "positions.weight": Stress(0.1),
    "blocks.0.attention.query.weight": Stress(12.0),
    "blocks.0.attention.key.weight": Stress(12.0),
    "blocks.*.attention.out.bias": Stress(shift=300.0),
    "blocks.*.mlp.down.bias": Stress(shift=300.0),
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
    """In order of use; `tokens.weight` is also the head. The columns of Q, K and V are N heads of H.

    The embedding's deviation gives logits of unit variance, since the final norm's output is about N(0, 1). The
    deviation of `query` includes the 1/sqrt(H) that GPT-Neo's attention lacks: without it the softmax would saturate.
    """
    d, f = dims["width"], dims["hidden"]
    tensors: dict[str, Tensor] = {
        "tokens.weight": Normal((dims["vocab"], d), d**-0.5),
        "positions.weight": Normal((dims["positions"], d), d**-0.5),
    }
    for layer in range(dims["layers"]):
        block = f"blocks.{layer}"
        tensors |= norm(f"{block}.norm1", d)
        tensors |= {
            f"{block}.attention.query.weight": Normal((d, d), (d * d / dims["heads"]) ** -0.5),
            f"{block}.attention.key.weight": fan_in(d, d),
            f"{block}.attention.value.weight": fan_in(d, d),
        }
        tensors |= dense(f"{block}.attention.out", d, d)
        tensors |= norm(f"{block}.norm2", d)
        tensors |= dense(f"{block}.mlp.up", d, f)
        tensors |= dense(f"{block}.mlp.down", f, d)
    return tensors | norm("norm", d)


def dense(name: str, inputs: int, outputs: int) -> dict[str, Tensor]:
    """A weight (inputs, outputs) and a bias, which isn't zero, so that a dropped one is caught."""
    return {f"{name}.weight": fan_in(inputs, outputs), f"{name}.bias": Normal((outputs,), inputs**-0.5)}


def norm(name: str, width: int) -> dict[str, Tensor]:
    """Scale and shift of a layer norm, off 1 and 0, so that a dropped one is caught."""
    return {f"{name}.weight": Normal((width,), 0.1, mean=1.0), f"{name}.bias": Normal((width,), 0.1)}


def inputs(dims: Dims) -> dict[str, Tensor]:
    """Token ids (B, T)."""
    return {"tokens": Integers((dims["batch"], dims["seq"]), dims["vocab"])}


def target(dims: Dims) -> Tensor:
    """The token after each position (B, T). It is given also for the last position, so nothing is cut off."""
    return Integers((dims["batch"], dims["seq"]), dims["vocab"])


def flops(dims: Dims, pass_: str) -> int:
    """Per token: 2 (4 D D + 2 D F) in the dense layers of a block, 4 T D in its attention, 2 D V in the head.

    Attention counts all T x S pairs, in local layers too, because a stack may compute them all. Train is three times
    that: each product has two gradients, even the first, whose input depends on the embeddings. Lookups have no
    FLOPs.
    """
    b, t, d, f = dims["batch"], dims["seq"], dims["width"], dims["hidden"]
    block = 2 * (4 * d * d + 2 * d * f) + 4 * t * d
    forward = b * t * (dims["layers"] * block + 2 * d * dims["vocab"])
    return 3 * forward if pass_ == "train" else forward


def bytes_floor(dims: Dims, pass_: str) -> int:
    """Forward reads ids and weights (T rows of the positions), and writes logits. Train reads ids and targets, and
    reads and writes all weights and two moments: weight decay moves even rows that no token uses."""
    weights = sum(4 * tensor.size for tensor in parameters(dims).values())
    ids = 4 * dims["batch"] * dims["seq"]
    if pass_ == "train":
        return 6 * weights + 2 * ids
    unread = 4 * (dims["positions"] - dims["seq"]) * dims["width"]
    return weights - unread + ids + ids * dims["vocab"]


def items(dims: Dims) -> tuple[int, str]:
    """The tokens of a step."""
    return dims["batch"] * dims["seq"], "tokens"
