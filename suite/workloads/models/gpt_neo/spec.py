"""gpt_neo: GPT-Neo 1.3B, a decoder-only transformer whose odd layers attend a sliding window alone.

Black et al. 2021, "GPT-Neo: large scale autoregressive language modeling with Mesh-TensorFlow", zenodo.5297715;
sizes and constants of the released configuration `EleutherAI/gpt-neo-1.3B`. As GPT-2 (pre-norm blocks, tanh GELU,
learned positions, head tied to the token embedding, no dropout), but: layers 0, 2, ... are global and 1, 3, ...
local (a token attends itself and the W - 1 before it), attention logits aren't scaled by 1/sqrt(H), and Q, K
and V are projections of their own, without a bias.
At `seed` the sequence is shorter than the window, so the local layers see all that the global ones do; at the other
sizes they don't.
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
    # Two published blocks and a sequence beyond their window, whose oracle takes 7 GB: at `full` it would take 42.
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
# What the first norm gets has a variance near its epsilon, what later ones get is some 100 to 300 deviations from zero;
# the first attention's logits and the last ones overflow float32's exp.
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
    """In order of use; `tokens.weight` is the head, too. The columns of Q, K and V are N heads of H.

    The deviation of the embedding gives logits of unit variance, the final norm's output being about N(0, 1). That of
    `query` carries the 1/sqrt(H) which attention lacks; without it the softmax would be saturated.
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
    """Scale and shift of a layer norm, away from 1 and 0 for the same reason."""
    return {f"{name}.weight": Normal((width,), 0.1, mean=1.0), f"{name}.bias": Normal((width,), 0.1)}


def inputs(dims: Dims) -> dict[str, Tensor]:
    """Token ids (B, T)."""
    return {"tokens": Integers((dims["batch"], dims["seq"]), dims["vocab"])}


def target(dims: Dims) -> Tensor:
    """The token that follows each position (B, T). Given, so nothing is shifted."""
    return Integers((dims["batch"], dims["seq"]), dims["vocab"])


def flops(dims: Dims, pass_: str) -> int:
    """Per token: 2 (4 D D + 2 D F) in the dense layers of a block, 4 T D in its attention, 2 D V in the head.

    Attention counts all T x S pairs, in local layers too, as every stack may compute them. Train is three times
    that: each product has two gradients, and the first block's input needs one for the embeddings. Lookups are
    no FLOPs.
    """
    b, t, d, f = dims["batch"], dims["seq"], dims["width"], dims["hidden"]
    block = 2 * (4 * d * d + 2 * d * f) + 4 * t * d
    forward = b * t * (dims["layers"] * block + 2 * d * dims["vocab"])
    return 3 * forward if pass_ == "train" else forward


def bytes_floor(dims: Dims, pass_: str) -> int:
    """Forward reads ids and weights (T rows of the positions), writes logits. Train reads ids and targets; reads
    and writes all weights and two moments, as the decay moves even rows that no token has."""
    weights = sum(4 * tensor.size for tensor in parameters(dims).values())
    ids = 4 * dims["batch"] * dims["seq"]
    if pass_ == "train":
        return 6 * weights + 2 * ids
    unread = 4 * (dims["positions"] - dims["seq"]) * dims["width"]
    return weights - unread + ids + ids * dims["vocab"]


def items(dims: Dims) -> tuple[int, str]:
    """Tokens."""
    return dims["batch"] * dims["seq"], "tokens"
