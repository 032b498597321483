"""decode: GPT-2 Small with a key-value cache, one token a call (Radford et al. 2019; the network of `gpt2`).

A step is a user's whole loop over a sequence: the cache is empty at first, and each token is one call, which writes its
keys and values and attends to all tokens so far. The tokens are given. A decoder that took its own choice would go
another way after one rounding; the work of a call is the same. Result: the largest logit at each position (B, S), which
is the greedy choice's score, and the logits of the last (B, V). So a step computes what a forward pass of the whole
sequence does: that is the reference.

The loop is Python and outside what a stack compiles: each call costs what a stack takes to submit a small step. In bf16
each call casts the weights, which stay in float32 (a server would keep them in bfloat16).
Legend: B = batch, S = seq, D = width, N = heads, H = D/N, F = hidden, V = vocab, P = positions, L = layers.
"""

from __future__ import annotations

from suite.workloads.layers import tables
from suite.workloads.layers.tables import Dims, dense, norm
from suite.workloads.tensors import Normal, Stress, nbytes

TITLE = "GPT-2 Small, a token at a time"
SIZES = tables.sizes("""
           batch  seq  layers  heads  width  hidden  vocab  positions
    tiny       2   13       2      2     32     128     67         16
    odd        1    7       1      3     27      50     31          9
    small      1   32       4      4    256    1024   8192        256
    full       1  128      12     12    768    3072  50257       1024
""")
SIZES["large"] = SIZES["full"] | {"batch": 8}
PASSES = ("forward",)
OPTIMIZER = None
NOT_ON = dict.fromkeys(("onnxruntime", "openvino", "torch_aot", "iree"), "its loop of calls isn't exported")

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

# Smaller weights may stay in a last-level cache from call to call: the largest common ones have 384 MiB (EPYC 9654).
CACHE_BYTES = 384 * 2**20

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
    """As many as the whole sequence at once: each call attends over the whole cache, of which a mask hides a part."""
    return tables.language_model_flops(dims, pass_, head=dims["width"] * dims["vocab"])


def bytes_floor(dims: Dims, pass_: str) -> int:
    """Each call reads the weights, but only one position; what fits into a processor's cache is read once. Results
    are written once."""
    weights = nbytes(parameters(dims)) - 4 * dims["positions"] * dims["width"]
    calls = dims["seq"] if weights > CACHE_BYTES else 1
    results = dims["batch"] * (dims["seq"] + dims["vocab"])
    return calls * weights + 4 * (dims["seq"] * dims["width"] + results)
