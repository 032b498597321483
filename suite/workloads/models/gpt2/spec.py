"""gpt2: GPT-2 Small with its language-model head (Radford et al. 2019, section 2.3; the released configuration).

Pre-norm blocks (epsilon 1e-5), tanh GELU, learned positions, head tied to the token embedding, no dropout. Train:
mean cross-entropy over all positions against given target tokens, one AdamW step.
Legend: B = batch, T = seq, D = width, N = heads, H = D/N, F = hidden, V = vocab, P = positions, L = layers.
"""

from __future__ import annotations

from suite.workloads.layers import tables
from suite.workloads.layers.tables import Dims, dense, norm
from suite.workloads.tensors import Normal, Stress, nbytes

TITLE = "GPT-2 Small"
SIZES = tables.sizes("""
           batch  seq  layers  heads  width  hidden  vocab  positions
    tiny       2   13       2      2     32     128     67         16
    odd        1    7       1      3     27      50     31          9
    small      2   64       4      4    256    1024   8192        256
    full       2   64      12     12    768    3072  50257       1024
""")
SIZES["large"] = SIZES["full"] | {"batch": 8, "seq": 1024}  # what an accelerator is bought for
PASSES = ("forward", "train")
OPTIMIZER = "adamw"

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

inputs, target, items = tables.token_inputs, tables.token_ids, tables.tokens


def check(dims: Dims) -> None:
    tables.check_multiple(dims, "width", "heads")
    tables.check_seq(dims)


def parameters(dims: Dims) -> dict[str, Normal]:
    """In order of use. `qkv` has the columns of Q, then K, then V. The token embedding is also the head."""
    d, f = dims["width"], dims["hidden"]
    tensors = {
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


def flops(dims: Dims, pass_: str) -> int:
    return tables.language_model_flops(dims, pass_, head=dims["width"] * dims["vocab"])


def bytes_floor(dims: Dims, pass_: str) -> int:
    """Forward reads the weights, of the positions only those of the sequence, and writes the logits. Train reads and
    writes weights and two moments: weight decay moves positions that no token has, too."""
    weights = nbytes(parameters(dims))
    if pass_ == "train":
        return 6 * weights
    return weights - tables.unread_positions(dims) + tables.logits_bytes(dims)
