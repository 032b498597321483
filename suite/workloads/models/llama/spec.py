"""llama: Llama 3.1 8B, a language model (Grattafiori et al. 2024, arXiv:2407.21783, section 3.2 and table 3).

The configuration is that of the published `Llama-3.1-8B`. A decoder with RMS norms before each part (Zhang &
Sennrich 2019, arXiv:1910.07467), rotary positions (Su et al. 2021, arXiv:2104.09864), grouped-query attention
(Ainslie et al. 2023, arXiv:2305.13245) and SwiGLU (Shazeer 2020, arXiv:2002.05202); no biases, and a head of its own.
Norms have the epsilon 1e-5 (`rms_norm_eps`).

Rotary positions (`rope_theta`, `rope_scaling`): pair i of a head of width H, elements i and i + H/2, turns by
500000^(-2i/H) a position. Frequencies with fewer than 1 turn in 8192 positions are divided by 8, those with more than 4
stay, and between them the weight is linear in the number of turns.

Forward: logits of the next token at each position. Train: mean cross-entropy over all positions, one AdamW step.

Legend: B = batch, S = seq, D = width, N = heads, K = kv_heads, H = D/N (width of a head), F = hidden, V = vocab.
"""

from __future__ import annotations

from suite.workloads.layers import tables
from suite.workloads.layers.tables import Dims
from suite.workloads.tensors import Normal, Stress, fan_in, nbytes

TITLE = "Llama 3.1 8B"
# `blocks`: one published block, with a small vocabulary. The oracle takes 9 GB; at `full` it would take 257.
SIZES = tables.sizes("""
            batch  seq  layers  heads  kv_heads  width  hidden   vocab  positions
    tiny        2   13       2      4         2     64      56      97         32
    odd         1    7       1      3         1     30      41      53         11
    small       2   64       4      8         2    256     896    4096        256
    blocks      1  512       1     32         8   4096   14336    8192     131072
    full        2   64      32     32         8   4096   14336  128256     131072
""")
SIZES["large"] = SIZES["full"] | {"batch": 1, "seq": 2048}  # what an accelerator is bought for
PASSES = ("forward", "train")
OPTIMIZER = "adamw"

# The first norm's input has a mean square near its epsilon; the logits of the first attention and of the model overflow
# float32's exp.
STRESSED = {
    "tokens.weight": Stress(0.1),
    "blocks.0.attention.query.weight": Stress(12.0),
    "blocks.0.attention.key.weight": Stress(12.0),
    "head.weight": Stress(100.0),
}

inputs, target, items = tables.token_inputs, tables.token_ids, tables.tokens


def check(dims: Dims) -> None:
    tables.check_seq(dims)
    tables.check_multiple(dims, "width", "heads")
    tables.check_multiple(dims, "heads", "kv_heads")
    if dims["width"] // dims["heads"] % 2:
        raise ValueError(f"width / heads = {dims['width'] // dims['heads']} must be even: rotary positions turn pairs")


def parameters(dims: Dims) -> dict[str, Normal]:
    """In order of use. Head n reads the keys and values of head n // (N/K)."""
    d, f, kv = dims["width"], dims["hidden"], dims["kv_heads"] * dims["width"] // dims["heads"]
    scale = Normal((d,), 0.1, mean=1.0)
    tensors = {"tokens.weight": Normal((dims["vocab"], d), d**-0.5)}
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


def flops(dims: Dims, pass_: str) -> int:
    """Two for each token and each weight except the embedding's; 2 B S^2 D for each of attention's two products. Train
    is three times forward: the first block's input comes from the embedding, so every product has two gradients."""
    b, s, d, f = dims["batch"], dims["seq"], dims["width"], dims["hidden"]
    kv = dims["kv_heads"] * d // dims["heads"]
    weights = dims["layers"] * (2 * d * d + 2 * d * kv + 3 * d * f) + d * dims["vocab"]
    forward = 2 * b * s * weights + dims["layers"] * 2 * (2 * b * s * s * d)
    return 3 * forward if pass_ == "train" else forward


def bytes_floor(dims: Dims, pass_: str) -> int:
    """Forward reads the weights, but of the embedding only a row for each token, and writes the logits. Train reads and
    writes all weights, the whole embedding among them, and two moments."""
    tensors, tokens = parameters(dims), dims["batch"] * dims["seq"]
    if pass_ == "train":
        return 6 * nbytes(tensors)
    rows = 4 * min(tokens, dims["vocab"]) * dims["width"]
    return nbytes(tensors) - tensors["tokens.weight"].nbytes + rows + tables.logits_bytes(dims)
