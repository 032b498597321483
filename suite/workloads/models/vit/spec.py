"""vit: Vision Transformer B/16 as an image classifier (Dosovitskiy et al. 2021, section 3.1 and table 1).

The configuration is google/vit-base-patch16-224. Each patch of the image becomes a token by one strided
convolution; a learned class token is put before them and a learned position is added to each. Blocks normalise
before attention and before the MLP (pre-norm, epsilon 1e-12) and use the exact GELU; nothing is masked. The
classifier is a dense layer on the class token after the final norm; the paper's pre-training head, and a pooler,
aren't there.
Legend: B = batch, I = image, P = patch, h = w = I/P, S = T = h w + 1 tokens, D = width, F = hidden,
N = heads, H = D/N (width of a head), C = classes.
"""

from __future__ import annotations

from suite.workloads.layers import tables
from suite.workloads.layers.tables import Dims, dense, norm
from suite.workloads.tensors import Integers, Normal, Stress, fan_in, nbytes

TITLE = "Vision Transformer B/16, image classification"
# `small` is Ti/16 of Touvron et al. 2021 (arXiv:2012.12877), table 1.
SIZES = tables.sizes("""
           batch  image  patch  layers  heads  width  hidden  classes
    tiny       2     28      7       2      4     32     128       11
    odd        1     40      8       3      3     33      77        7
    small      2    224     16      12      3    192     768     1000
    full       2    224     16      12     12    768    3072     1000
""")
SIZES["large"] = SIZES["full"] | {"batch": 128}  # what an accelerator is bought for
PASSES = ("forward", "train")
OPTIMIZER = "adamw"

CHANNELS = 3  # red, green, blue
# The first norm's input has a variance near its epsilon, later norms' inputs have means of some 100 to 300 standard
# deviations, and the logits of the first attention and of the model overflow float32's exp.
STRESSED = {
    "patches.*": Stress(3e-6),
    "class_token": Stress(3e-5),
    "positions": Stress(3e-5),
    "blocks.0.attention.query.*": Stress(12.0),
    "blocks.0.attention.key.*": Stress(12.0),
    "blocks.*.attention.out.bias": Stress(shift=300.0),
    "blocks.*.mlp.down.bias": Stress(shift=300.0),
    "head.*": Stress(100.0),
}


def check(dims: Dims) -> None:
    tables.check_multiple(dims, "image", "patch")
    tables.check_multiple(dims, "width", "heads")


def patches(dims: Dims) -> int:
    return (dims["image"] // dims["patch"]) ** 2


def parameters(dims: Dims) -> dict[str, Normal]:
    """In the order in which they are used; dense weights are (inputs, outputs), the convolution's HWIO.

    Class token and positions are small beside the patches, as in the published weights.
    """
    p, d, f = dims["patch"], dims["width"], dims["hidden"]
    kernel = fan_in(p, p, CHANNELS, d)
    tensors = {
        "patches.weight": kernel,
        "patches.bias": Normal((d,), kernel.sigma),
        "class_token": Normal((1, 1, d), d**-0.5),
        "positions": Normal((1, patches(dims) + 1, d), d**-0.5),
    }
    for layer in range(dims["layers"]):
        block = f"blocks.{layer}"
        tensors |= norm(f"{block}.attention_norm", d)
        tensors |= dense(f"{block}.attention.query", d, d)
        tensors |= dense(f"{block}.attention.key", d, d)
        tensors |= dense(f"{block}.attention.value", d, d)
        tensors |= dense(f"{block}.attention.out", d, d)
        tensors |= norm(f"{block}.mlp_norm", d)
        tensors |= dense(f"{block}.mlp.up", d, f)
        tensors |= dense(f"{block}.mlp.down", f, d)
    return tensors | norm("norm", d) | dense("head", d, dims["classes"])


def inputs(dims: Dims) -> dict[str, Normal]:
    """Images (B, I, I, channels) of unit variance, as after the usual normalisation."""
    return {"image": Normal((dims["batch"], dims["image"], dims["image"], CHANNELS), images=True)}


def target(dims: Dims) -> Integers:
    """The right class of every image (B,)."""
    return Integers((dims["batch"],), dims["classes"])


def flops(dims: Dims, pass_: str) -> int:
    """The convolution's windows don't overlap and need no padding: it is the product (B h w, P P 3) @ (P P 3, D). The
    classifier sees one token. Train has two gradients for each product, but one for the convolution: the image needs
    none."""
    b, p, d = dims["batch"], dims["patch"], dims["width"]
    convolution = 2 * b * patches(dims) * p * p * CHANNELS * d
    rest = dims["layers"] * tables.block_flops(dims, patches(dims) + 1) + 2 * b * d * dims["classes"]
    return 2 * convolution + 3 * rest if pass_ == "train" else convolution + rest


def bytes_floor(dims: Dims, pass_: str) -> int:
    """Forward reads images and weights, writes logits. Train reads images and targets, reads and writes weights and two
    moments."""
    weights, images = nbytes(parameters(dims)), nbytes(inputs(dims))
    if pass_ == "train":
        return 6 * weights + images + target(dims).nbytes
    return weights + images + 4 * dims["batch"] * dims["classes"]


def items(dims: Dims) -> tuple[int, str]:
    return dims["batch"], "images"
