"""vit: Vision Transformer B/16 as an image classifier (Dosovitskiy et al. 2021, section 3.1 and table 1).

The configuration is google/vit-base-patch16-224. Each patch of the image becomes a token by one strided
convolution; a learned class token is put before them and a learned position is added to each. Blocks
normalise before attention and before the MLP (pre-norm) and use the exact GELU; nothing is masked. The
classifier is a dense layer on the class token after the final norm; the paper's pre-training head, and
a pooler, aren't there.
Legend: B = batch, I = image, P = patch, h = w = I/P, S = T = h w + 1 tokens, D = width, F = hidden,
N = heads, H = D/N (width of a head), C = classes.
"""

from __future__ import annotations

from collections.abc import Mapping

from suite.workloads.tensors import Integers, Normal, Stress, fan_in

TITLE = "Vision Transformer B/16, image classification"
SIZES = {
    "tiny": {"batch": 2, "image": 28, "patch": 7, "layers": 2, "heads": 4, "width": 32, "hidden": 128, "classes": 11},
    "odd": {"batch": 1, "image": 40, "patch": 8, "layers": 3, "heads": 3, "width": 33, "hidden": 77, "classes": 7},
    # Ti/16 of Touvron et al. 2021 (arXiv:2012.12877), table 1.
    "small": {
        "batch": 2,
        "image": 224,
        "patch": 16,
        "layers": 12,
        "heads": 3,
        "width": 192,
        "hidden": 768,
        "classes": 1000,
    },
    "full": {
        "batch": 2,
        "image": 224,
        "patch": 16,
        "layers": 12,
        "heads": 12,
        "width": 768,
        "hidden": 3072,
        "classes": 1000,
    },
}
SIZES["large"] = SIZES["full"] | {"batch": 128}  # what an accelerator is bought for
PASSES = ("forward", "train")
OPTIMIZER = "adamw"

CHANNELS = 3  # red, green, blue; also in every dialect
EPSILON = 1e-12  # of every layer norm: layer_norm_eps of the configuration; also in every dialect
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

Dims = Mapping[str, int]


def check(dims: Dims) -> None:
    """Raises ValueError naming the rule that the dims break."""
    if dims["image"] % dims["patch"]:
        raise ValueError(f"image={dims['image']} must be a multiple of patch={dims['patch']}")
    if dims["width"] % dims["heads"]:
        raise ValueError(f"width={dims['width']} must be a multiple of heads={dims['heads']}")


def patches(dims: Dims) -> int:
    """The number of patches in one image."""
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


def dense(name: str, inputs: int, outputs: int) -> dict[str, Normal]:
    """Weight and bias; the bias isn't zero, so that a dropped one is caught."""
    return {f"{name}.weight": fan_in(inputs, outputs), f"{name}.bias": Normal((outputs,), inputs**-0.5)}


def norm(name: str, width: int) -> dict[str, Normal]:
    """Scale and shift of a layer norm, off 1 and 0, so that a dropped one is caught."""
    return {f"{name}.weight": Normal((width,), 0.1, mean=1.0), f"{name}.bias": Normal((width,), 0.1)}


def inputs(dims: Dims) -> dict[str, Normal]:
    """Images (B, I, I, channels) of unit variance, as after the usual normalisation."""
    return {"image": Normal((dims["batch"], dims["image"], dims["image"], CHANNELS), images=True)}


def target(dims: Dims) -> Integers:
    """The right class of every image (B,)."""
    return Integers((dims["batch"],), dims["classes"])


def flops(dims: Dims, pass_: str) -> int:
    """A product (B S, m) @ (m, n) is 2 B S m n; Q K^T and P V are 2 B S^2 D each; the classifier sees one token.

    The convolution's windows don't overlap and need no padding: it is the product (B h w, P P 3) @ (P P 3, D).
    Train has two gradients for each product, but one for the convolution: the image needs none.
    """
    b, p, d, f = (dims[name] for name in ("batch", "patch", "width", "hidden"))
    s = patches(dims) + 1
    convolution = 2 * b * patches(dims) * p * p * CHANNELS * d
    block = 2 * b * s * (4 * d * d + 2 * d * f) + 4 * b * s * s * d
    rest = dims["layers"] * block + 2 * b * d * dims["classes"]
    return 2 * convolution + 3 * rest if pass_ == "train" else convolution + rest


def bytes_floor(dims: Dims, pass_: str) -> int:
    """Forward reads images and weights, writes logits.

    Train reads images and targets, reads and writes weights and two moments.
    """
    weights = sum(tensor.nbytes for tensor in parameters(dims).values())
    images = sum(tensor.nbytes for tensor in inputs(dims).values())
    if pass_ == "train":
        return 6 * weights + images + target(dims).nbytes
    return weights + images + 4 * dims["batch"] * dims["classes"]


def items(dims: Dims) -> tuple[int, str]:
    """The images of a step."""
    return dims["batch"], "images"
