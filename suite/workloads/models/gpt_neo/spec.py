"""gpt_neo: GPT-Neo 1.3B, a decoder-only transformer whose odd layers attend only to a sliding window.

Black et al. 2021, "GPT-Neo: large scale autoregressive language modeling with Mesh-TensorFlow", zenodo.5297715;
sizes and constants of the released configuration `EleutherAI/gpt-neo-1.3B`. It is like GPT-2 (pre-norm blocks, tanh
GELU, learned positions, norms with epsilon 1e-5, head tied to the token embedding, no dropout), but: layers 0, 2,
... are global and 1, 3, ... local (a token attends to itself and the W - 1 tokens before it), attention logits
aren't scaled by 1/sqrt(H), and Q, K and V are separate projections, without a bias.
At `full` the sequence is shorter than the window, so local layers attend to the same tokens as global ones; at the
other sizes they don't.
Forward: the logits. Train: mean cross-entropy of all positions against given target tokens, gradients of
all parameters, AdamW update of them.
Legend: B = batch, T = S = seq, D = width, N = heads, H = D/N (width of a head), F = hidden, V = vocab, W = window.
"""

from __future__ import annotations

from suite.workloads.layers import tables
from suite.workloads.layers.tables import Dims, dense, norm
from suite.workloads.tensors import Normal, Stress, fan_in, nbytes

TITLE = "GPT-Neo 1.3B"
# `blocks`: two published blocks, with a sequence longer than the window. The oracle takes 7 GB; at `full` it would
# take 42.
SIZES = tables.sizes("""
            batch  seq  layers  heads  width  hidden  vocab  positions  window
    tiny        2   13       2      2     32     128     67         16       4
    odd         1   11       3      3     27      50     31         11       5
    small       2   64       4      4    256    1024   8192        256      32
    blocks      1  320       2     16   2048    8192  50257       2048     256
    full        2   64      24     16   2048    8192  50257       2048     256
""")
SIZES["large"] = SIZES["full"] | {"batch": 4, "seq": 1024}  # what an accelerator is bought for
PASSES = ("forward", "train")
OPTIMIZER = "adamw"

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

inputs, target, items = tables.token_inputs, tables.token_ids, tables.tokens


def check(dims: Dims) -> None:
    tables.check_multiple(dims, "width", "heads")
    tables.check_seq(dims)


def parameters(dims: Dims) -> dict[str, Normal]:
    """In order of use; `tokens.weight` is also the head. The columns of Q, K and V are N heads of H.

    The embedding's deviation gives logits of unit variance, since the final norm's output is about N(0, 1). The
    deviation of `query` includes the 1/sqrt(H) that GPT-Neo's attention lacks: without it the softmax would saturate.
    """
    d, f = dims["width"], dims["hidden"]
    tensors = {
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


def flops(dims: Dims, pass_: str) -> int:
    """Local blocks are counted like global ones."""
    return tables.language_model_flops(dims, pass_, head=dims["width"] * dims["vocab"])


def bytes_floor(dims: Dims, pass_: str) -> int:
    """Forward reads ids and weights (T rows of the positions), and writes logits. Train reads ids and targets, and
    reads and writes all weights and two moments: weight decay moves even rows that no token uses."""
    weights, ids = nbytes(parameters(dims)), nbytes(inputs(dims))
    if pass_ == "train":
        return 6 * weights + 2 * ids
    return weights - tables.unread_positions(dims) + ids + tables.logits_bytes(dims)
