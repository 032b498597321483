"""bert: BERT Base with its masked-language-model head (Devlin et al. 2019, sections 3 and A.2).

The configuration is google-bert/bert-base-uncased. Token, position and type embeddings are added and
normalised; blocks normalise after each residual sum (post-norm) and use the exact GELU; every position
attends to every other, without a padding mask. The head is dense, GELU, layer norm, then a product with
the token embedding (one parameter, used twice) and a bias of its own. There is no pooler and no
next-sentence task. Every position has a target: the loss is the mean cross-entropy over all positions,
not only over the masked 15 %.
Legend: B = batch, S = T = seq, D = width, F = hidden, N = heads, H = D/N (width of a head), V = vocab.
"""

from __future__ import annotations

from collections.abc import Mapping

from suite.workloads.tensors import Integers, Normal, Stress

TITLE = "BERT Base, masked language model"
SIZES = {
    "tiny": {
        "batch": 2,
        "seq": 13,
        "layers": 2,
        "heads": 4,
        "width": 32,
        "hidden": 128,
        "vocab": 211,
        "positions": 16,
        "types": 2,
    },
    "odd": {
        "batch": 1,
        "seq": 7,
        "layers": 3,
        "heads": 3,
        "width": 33,
        "hidden": 77,
        "vocab": 97,
        "positions": 7,
        "types": 3,
    },
    "small": {
        "batch": 2,
        "seq": 64,
        "layers": 4,
        "heads": 4,
        "width": 256,
        "hidden": 1024,
        "vocab": 8192,
        "positions": 128,
        "types": 2,
    },
    "full": {
        "batch": 2,
        "seq": 64,
        "layers": 12,
        "heads": 12,
        "width": 768,
        "hidden": 3072,
        "vocab": 30522,
        "positions": 512,
        "types": 2,
    },
}
SIZES["large"] = SIZES["full"] | {"batch": 32, "seq": 512}  # what an accelerator is bought for
PASSES = ("forward", "train")
OPTIMIZER = "adamw"

EPSILON = 1e-12  # of every layer norm: layer_norm_eps of the configuration; also in every dialect
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

Dims = Mapping[str, int]


def check(dims: Dims) -> None:
    """Raises ValueError naming the rule that the dims break."""
    if dims["seq"] > dims["positions"]:
        raise ValueError(f"seq={dims['seq']} must not exceed positions={dims['positions']}")
    if dims["width"] % dims["heads"]:
        raise ValueError(f"width={dims['width']} must be a multiple of heads={dims['heads']}")


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


def norm(name: str, width: int) -> dict[str, Normal]:
    """Scale and shift of a layer norm, off 1 and 0, so that a dropped one is caught."""
    return {f"{name}.weight": Normal((width,), 0.1, mean=1.0), f"{name}.bias": Normal((width,), 0.1)}


def inputs(dims: Dims) -> dict[str, Integers]:
    """Token ids and segment ids, both (B, S)."""
    shape = (dims["batch"], dims["seq"])
    return {"tokens": Integers(shape, dims["vocab"]), "types": Integers(shape, dims["types"])}


def target(dims: Dims) -> Integers:
    """The right token at every position (B, S)."""
    return Integers((dims["batch"], dims["seq"]), dims["vocab"])


def flops(dims: Dims, pass_: str) -> int:
    """A product (B S, m) @ (m, n) is 2 B S m n; Q K^T and P V are 2 B S^2 D each. Train is three times forward.

    Lookups have no FLOPs. Each product has two gradients, even the first, whose input depends on the
    embeddings.
    """
    b, s, d, f, v = (dims[name] for name in ("batch", "seq", "width", "hidden", "vocab"))
    block = 2 * b * s * (4 * d * d + 2 * d * f) + 4 * b * s * s * d
    head = 2 * b * s * (d * d + d * v)
    forward = dims["layers"] * block + head
    return 3 * forward if pass_ == "train" else forward


def bytes_floor(dims: Dims, pass_: str) -> int:
    """Forward reads ids and weights, except unused positions, and writes logits.

    Train reads ids and targets, reads and writes all weights and two moments.
    """
    weights = sum(tensor.nbytes for tensor in parameters(dims).values())
    ids = sum(tensor.nbytes for tensor in inputs(dims).values())
    if pass_ == "train":
        return 6 * weights + ids + target(dims).nbytes
    unused = 4 * (dims["positions"] - dims["seq"]) * dims["width"]
    logits = 4 * dims["batch"] * dims["seq"] * dims["vocab"]
    return weights - unused + ids + logits


def items(dims: Dims) -> tuple[int, str]:
    """The tokens of a step."""
    return dims["batch"] * dims["seq"], "tokens"
