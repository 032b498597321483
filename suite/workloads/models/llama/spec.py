"""llama: Llama 3.1 8B, a language model (Grattafiori et al. 2024, arXiv:2407.21783, section 3.2 and table 3).

The configuration is that of the published `Llama-3.1-8B`. A decoder with RMS norms before each part (Zhang &
Sennrich 2019, arXiv:1910.07467), rotary positions (Su et al. 2021, arXiv:2104.09864), grouped-query attention
(Ainslie et al. 2023, arXiv:2305.13245) and SwiGLU (Shazeer 2020, arXiv:2002.05202); no biases, and a head of its own.

Forward: logits of the next token at each position. Train: mean cross-entropy over all positions, one AdamW step.

Legend: B = batch, S = seq, D = width, N = heads, K = kv_heads, H = D/N (width of a head), F = hidden, V = vocab.
"""

from __future__ import annotations

from collections.abc import Mapping

from suite.workloads.tensors import Integers, Normal, Stress, Tensor, fan_in

TITLE = "Llama 3.1 8B"
SIZES = {
    "tiny": {
        "batch": 2,
        "seq": 13,
        "layers": 2,
        "heads": 4,
        "kv_heads": 2,
        "width": 64,
        "hidden": 56,
        "vocab": 97,
        "positions": 32,
    },
    "odd": {
        "batch": 1,
        "seq": 7,
        "layers": 1,
        "heads": 3,
        "kv_heads": 1,
        "width": 30,
        "hidden": 41,
        "vocab": 53,
        "positions": 11,
    },
    "small": {
        "batch": 2,
        "seq": 64,
        "layers": 4,
        "heads": 8,
        "kv_heads": 2,
        "width": 256,
        "hidden": 896,
        "vocab": 4096,
        "positions": 256,
    },
    # One published block, with a small vocabulary. The oracle takes 9 GB; at `full` it would take 257.
    "blocks": {
        "batch": 1,
        "seq": 512,
        "layers": 1,
        "heads": 32,
        "kv_heads": 8,
        "width": 4096,
        "hidden": 14336,
        "vocab": 8192,
        "positions": 131072,
    },
    "full": {
        "batch": 2,
        "seq": 64,
        "layers": 32,
        "heads": 32,
        "kv_heads": 8,
        "width": 4096,
        "hidden": 14336,
        "vocab": 128256,
        "positions": 131072,
    },
}
SIZES["large"] = SIZES["full"] | {"batch": 1, "seq": 2048}  # what an accelerator is bought for
PASSES = ("forward", "train")
OPTIMIZER = "adamw"

EPSILON = 1e-5  # of every RMS norm (`rms_norm_eps`)

# Rotary positions (`rope_theta`, `rope_scaling`). Pair i of a head of width H, elements i and i + H/2, turns by
# ROPE_THETA^(-2i/H) a position. Frequencies with fewer than LOW_TURNS turns in ORIGINAL_CONTEXT positions are divided
# by ROPE_FACTOR, those with more than HIGH_TURNS stay, and between them the weight is linear in the number of turns.
ROPE_THETA = 500000.0
ROPE_FACTOR = 8.0
LOW_TURNS = 1.0
HIGH_TURNS = 4.0
ORIGINAL_CONTEXT = 8192
# The first norm's input has a mean square near its epsilon; the logits of the first attention and of the model overflow
# float32's exp.
STRESSED = {
    "tokens.weight": Stress(0.1),
    "blocks.0.attention.query.weight": Stress(12.0),
    "blocks.0.attention.key.weight": Stress(12.0),
    "head.weight": Stress(100.0),
}

Dims = Mapping[str, int]


def check(dims: Dims) -> None:
    """Raises ValueError naming the rule that the dims break."""
    width, heads, kv_heads = dims["width"], dims["heads"], dims["kv_heads"]
    if dims["seq"] > dims["positions"]:
        raise ValueError(f"seq={dims['seq']} must not exceed positions={dims['positions']}")
    if width % heads:
        raise ValueError(f"width={width} must be a multiple of heads={heads}")
    if heads % kv_heads:
        raise ValueError(f"heads={heads} must be a multiple of kv_heads={kv_heads}")
    if width // heads % 2:
        raise ValueError(f"width / heads = {width // heads} must be even: rotary positions turn pairs")


def parameters(dims: Dims) -> dict[str, Tensor]:
    """In order of use. Head n reads the keys and values of head n // (N/K)."""
    d, f, kv = dims["width"], dims["hidden"], dims["kv_heads"] * dims["width"] // dims["heads"]
    scale = Normal((d,), 0.1, mean=1.0)
    tensors: dict[str, Tensor] = {"tokens.weight": Normal((dims["vocab"], d), d**-0.5)}
    for layer in range(dims["layers"]):
        block = f"blocks.{layer}"
        tensors |= {
            f"{block}.attention_norm.weight": scale,
            f"{block}.attention.query.weight": fan_in(d, d),
            f"{block}.attention.key.weight": fan_in(d, kv),
            f"{block}.attention.value.weight": fan_in(d, kv),
            f"{block}.attention.out.weight": fan_in(d, d),
            f"{block}.mlp_norm.weight": scale,
            f"{block}.mlp.gate.weight": fan_in(d, f),
            f"{block}.mlp.up.weight": fan_in(d, f),
            f"{block}.mlp.down.weight": fan_in(f, d),
        }
    return tensors | {"norm.weight": scale, "head.weight": fan_in(d, dims["vocab"])}


def inputs(dims: Dims) -> dict[str, Tensor]:
    """Token ids (B, S)."""
    return {"tokens": Integers((dims["batch"], dims["seq"]), dims["vocab"])}


def target(dims: Dims) -> Tensor:
    """The token after each position (B, S)."""
    return Integers((dims["batch"], dims["seq"]), dims["vocab"])


def flops(dims: Dims, pass_: str) -> int:
    """Two for each token and each weight except the embedding's; 2 B S^2 D for each of attention's two products.

    Train is three times forward: the first block's input comes from the embedding, so every product has two gradients.
    """
    b, s, d, f = dims["batch"], dims["seq"], dims["width"], dims["hidden"]
    kv = dims["kv_heads"] * d // dims["heads"]
    weights = dims["layers"] * (2 * d * d + 2 * d * kv + 3 * d * f) + d * dims["vocab"]
    forward = 2 * b * s * weights + dims["layers"] * 2 * (2 * b * s * s * d)
    return 3 * forward if pass_ == "train" else forward


def bytes_floor(dims: Dims, pass_: str) -> int:
    """Forward reads the weights, but of the embedding only a row for each token, and writes the logits. Train reads and
    writes all weights, the whole embedding among them, and two moments.
    """
    tensors = parameters(dims)
    tokens, weights = dims["batch"] * dims["seq"], sum(tensor.nbytes for tensor in tensors.values())
    if pass_ == "train":
        return 6 * weights
    rows = 4 * min(tokens, dims["vocab"]) * dims["width"]
    return weights - tensors["tokens.weight"].nbytes + rows + 4 * tokens * dims["vocab"]


def items(dims: Dims) -> tuple[int, str]:
    """The tokens of a step."""
    return dims["batch"] * dims["seq"], "tokens"
