"""bert: BERT Base with its masked-language-model head (Devlin et al. 2019, sections 3 and A.2).

The configuration is google-bert/bert-base-uncased. Token, position and type embeddings are added and normalised;
blocks normalise after each residual sum (post-norm) and use the exact GELU; layer norms have the configuration's
epsilon, 1e-12; every position attends to every other, without a padding mask. The head is dense, GELU, layer norm,
then a product with the token embedding (one parameter, used twice) and a bias of its own. There is no pooler and no
next-sentence task. Every position has a target: the loss is the mean cross-entropy over all positions, not only
over the masked 15 %.
Legend: B = batch, S = T = seq, D = width, F = hidden, N = heads, H = D/N (width of a head), V = vocab.
"""

from __future__ import annotations

from suite.workloads.layers import tables
from suite.workloads.layers.tables import Dims, norm
from suite.workloads.tensors import Integers, Normal, Stress, Tensor, nbytes

TITLE = "BERT Base, masked language model"
SIZES = tables.sizes("""
           batch  seq  layers  heads  width  hidden  vocab  positions  types
    tiny       2   13       2      4     32     128    211         16      2
    odd        1    7       3      3     33      77     97          7      3
    small      2   64       4      4    256    1024   8192        128      2
    full       2   64      12     12    768    3072  30522        512      2
""")
SIZES["large"] = SIZES["full"] | {"batch": 32, "seq": 512}  # what an accelerator is bought for
PASSES = ("forward", "train")
OPTIMIZER = "adamw"

# The first norm's input has a variance near its epsilon, later norms' inputs have means of some 100 to 300 standard
# deviations, and the logits of the first attention and of the model overflow float32's exp.
STRESSED = {
    "tokens.weight": Stress(3e-5),
    "positions.weight": Stress(3e-5),
    "types.weight": Stress(3e-5),
    "blocks.0.attention.query.*": Stress(12.0),
    "blocks.0.attention.key.*": Stress(12.0),
    "blocks.*.attention.out.bias": Stress(shift=300.0),
    "blocks.*.mlp.down.bias": Stress(shift=300.0),
    "head.dense.bias": Stress(shift=300.0),
    "head.norm.weight": Stress(3e6),
}

target, items = tables.token_ids, tables.tokens


def check(dims: Dims) -> None:
    tables.check_seq(dims)
    tables.check_multiple(dims, "width", "heads")


def parameters(dims: Dims) -> dict[str, Normal]:
    """In the order in which they are used; dense weights are (inputs, outputs).

    The token embedding has sigma D**-0.5, so that a normalised activation times it gives logits of unit
    variance. Positions and types have the same sigma, so that each of the three counts in the sum. What attention adds
    is scaled by (2 L)**-0.5, as in GPT-2's initialisation (Radford et al. 2019, section 2.3). Attention mixes the
    tokens: after twelve layers without this scale they were so alike (their differences were 0.1 % of their squares)
    that the gradients of queries and keys, which come from these differences, had float32 errors of 1e-4 in every
    implementation.
    """
    d, f, v = dims["width"], dims["hidden"], dims["vocab"]
    tensors = {
        "tokens.weight": Normal((v, d), d**-0.5),
        "positions.weight": Normal((dims["positions"], d), d**-0.5),
        "types.weight": Normal((dims["types"], d), d**-0.5),
        **norm("embedding_norm", d),
    }
    for layer in range(dims["layers"]):
        block = f"blocks.{layer}"
        tensors |= dense(f"{block}.attention.query", d, d)
        tensors |= dense(f"{block}.attention.key", d, d)
        tensors |= dense(f"{block}.attention.value", d, d)
        tensors |= dense(f"{block}.attention.out", d, d, scale=(2 * dims["layers"]) ** -0.5)
        tensors |= norm(f"{block}.attention_norm", d)
        tensors |= dense(f"{block}.mlp.up", d, f)
        tensors |= dense(f"{block}.mlp.down", f, d)
        tensors |= norm(f"{block}.mlp_norm", d)
    return tensors | dense("head.dense", d, d) | norm("head.norm", d) | {"head.bias": Normal((v,), d**-0.5)}


def dense(name: str, inputs: int, outputs: int, scale: float = 1.0) -> dict[str, Normal]:
    """Weight and bias; the bias isn't zero, so that a dropped one is caught."""
    sigma = inputs**-0.5
    return {f"{name}.weight": Normal((inputs, outputs), scale * sigma), f"{name}.bias": Normal((outputs,), sigma)}


def inputs(dims: Dims) -> dict[str, Tensor]:
    """Token ids and segment ids, both (B, S)."""
    return {"tokens": tables.token_ids(dims), "types": Integers((dims["batch"], dims["seq"]), dims["types"])}


def flops(dims: Dims, pass_: str) -> int:
    return tables.language_model_flops(dims, pass_, head=dims["width"] * (dims["width"] + dims["vocab"]))


def bytes_floor(dims: Dims, pass_: str) -> int:
    """Forward reads ids and weights, except unused positions, and writes logits. Train reads ids and targets, reads and
    writes all weights and two moments."""
    weights, ids = nbytes(parameters(dims)), nbytes(inputs(dims))
    if pass_ == "train":
        return 6 * weights + ids + target(dims).nbytes
    return weights - tables.unread_positions(dims) + ids + tables.logits_bytes(dims)
