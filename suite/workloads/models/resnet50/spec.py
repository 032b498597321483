"""resnet50: ResNet-50 v1.5, an image classifier (He et al. 2016, arXiv:1512.03385, section 4.1 and table 1).

v1.5 halves the image in the 3x3 convolution of a bottleneck; the paper does it in the 1x1 convolution before.
Today's published weights are for v1.5, Hugging Face's `microsoft/resnet-50` and torchvision's among them.
Convolutions have no bias. Each is followed by a batch norm (Ioffe & Szegedy 2015, arXiv:1502.03167) with PyTorch's
defaults, with which the published weights were trained: epsilon 1e-5, and a share of 0.1 of the batch's statistics
in the new running ones.

Forward is inference: batch norms use their running statistics. Train: batch statistics, mean cross-entropy, one
step of SGD with momentum; the running statistics are updated.

Legend: B = batch, I = image (rows and columns), W = width (channels of the stem), C = classes.
Stage n (1 to 4) has `blocks{n}` bottlenecks, which narrow to 2^(n-1) W channels and widen to four times as many.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from suite.workloads.layers.tables import Dims, dense, sizes
from suite.workloads.tensors import Integers, Normal, Stress, fan_in, nbytes

TITLE = "ResNet-50 v1.5"
# `tiny` and `odd` have maps with even and with odd sides: TensorFlow's "SAME" pads the even ones differently. Their
# image sizes were chosen so that no activation is so near zero that rounding changes its sign (see `parameters`).
SIZES = sizes("""
           batch  image  classes  width  blocks1  blocks2  blocks3  blocks4
    tiny       2     70       10      4        2        1        1        1
    odd        1     83        7      7        1        2        1        1
    small      2    112      100     32        2        2        2        2
    full       2    224     1000     64        3        4        6        3
""")
SIZES["large"] = SIZES["full"] | {"batch": 256}  # what an accelerator is bought for
PASSES = ("forward", "train")
OPTIMIZER = "sgd"

# For the digests of larger sizes. A ReLU's gradient jumps at zero. Rounding changes the signs of one or two of a
# layer's 10^5 to 10^6 values, and each of them is up to 10^-3 of the layer's gradient: at `full` PyTorch's float32
# gradients differ by 2.2e-3 from its float64 ones, other correct stacks' by up to 1.2e-2. bfloat16 changes thousands of
# signs: errors of 0.3 to 0.8 were seen, so only direction and norm are checked.
GRADIENT_TOLERANCE = {"f32": 5e-2, "tf32": 0.1}
GRADIENT_DIRECTION = {"bf16": (0.5, 0.5)}  # least cosine, largest deviation of the norm

CHANNELS = 3  # red, green, blue
EXPANSION = 4  # channels that a bottleneck widens to, for each that it narrows to (table 1)
# The first batch norm's input has a variance near its epsilon, the input of a bottleneck's last batch norm has a mean
# of some 300 standard deviations, and the logits overflow float32's exp.
STRESSED = {
    "stem.conv.weight": Stress(3e-3),
    "stage*.spatial.norm.bias": Stress(shift=300.0),
    "classifier.weight": Stress(100.0),
}


@dataclass(frozen=True, slots=True)
class Convolution:
    """One convolution, `size` x `size`, named like the batch norm after it. It reads a map of `side` x `side`."""

    name: str
    size: int
    inputs: int
    outputs: int
    side: int
    stride: int = 1

    @property
    def side_out(self) -> int:
        """The side of the map that it writes: padding of size // 2 on both sides keeps the side, the stride divides
        it."""
        return -(-self.side // self.stride)

    @property
    def flops(self) -> int:
        """The FLOPs for one image. Taps on the padding don't count; rows and columns have equally many taps."""
        starts = (place * self.stride - self.size // 2 for place in range(self.side_out))
        taps = sum(min(start + self.size, self.side) - max(start, 0) for start in starts)
        return 2 * taps * taps * self.inputs * self.outputs


def convolutions(dims: Dims) -> Iterator[Convolution]:
    """All convolutions, in order of use."""
    channels = dims["width"]
    stem = Convolution("stem", 7, CHANNELS, channels, dims["image"], stride=2)
    yield stem
    side = -(-stem.side_out // 2)  # after the max pool
    for stage in (1, 2, 3, 4):
        narrow = dims["width"] * 2 ** (stage - 1)
        wide = EXPANSION * narrow
        for block in range(dims[f"blocks{stage}"]):
            name = f"stage{stage}.{block}"
            stride = 2 if stage > 1 and block == 0 else 1
            yield Convolution(f"{name}.reduce", 1, channels, narrow, side)
            spatial = Convolution(f"{name}.spatial", 3, narrow, narrow, side, stride)
            yield spatial
            yield Convolution(f"{name}.expand", 1, narrow, wide, spatial.side_out)
            if block == 0:
                yield Convolution(f"{name}.shortcut", 1, channels, wide, side, stride)
            channels, side = wide, spatial.side_out


def check(dims: Dims) -> None:
    values = dims["batch"] * min(convolution.side_out for convolution in convolutions(dims)) ** 2
    if values < 2:
        raise ValueError(
            f"batch={dims['batch']} with image={dims['image']} leaves one value a channel in stage 4; "
            "statistics of a batch need at least 2"
        )


def parameters(dims: Dims) -> dict[str, Normal]:
    """In order of use. Kernels are (rows, columns, inputs, outputs).

    The last scale of a bottleneck is near 0, as at the start of a published training (Goyal et al. 2017,
    arXiv:1706.02677, section 5.1). Near 1, gradients would grow from block to block, and with them the effect of
    activations whose sign rounding changes: at `full` float32 gradients had errors of 2e-2 in every implementation,
    and now have 1e-3.
    """
    tensors: dict[str, Normal] = {}
    for convolution in convolutions(dims):
        scale = 0.0 if convolution.name.endswith(".expand") else 1.0
        tensors[f"{convolution.name}.conv.weight"] = fan_in(
            convolution.size, convolution.size, convolution.inputs, convolution.outputs
        )
        tensors[f"{convolution.name}.norm.weight"] = Normal((convolution.outputs,), 0.1, mean=scale)
        tensors[f"{convolution.name}.norm.bias"] = Normal((convolution.outputs,), 0.1)
    return tensors | dense("classifier", 8 * EXPANSION * dims["width"], dims["classes"])


def buffers(dims: Dims) -> dict[str, Normal]:
    """Running statistics of every batch norm. No variance is near zero: these normal values end at 5.5 sigma."""
    tensors: dict[str, Normal] = {}
    for convolution in convolutions(dims):
        tensors[f"{convolution.name}.norm.running_mean"] = Normal((convolution.outputs,), 0.1)
        tensors[f"{convolution.name}.norm.running_var"] = Normal((convolution.outputs,), 0.1, mean=1.0)
    return tensors


def inputs(dims: Dims) -> dict[str, Normal]:
    """Images (B, I, I, 3), standardized like the pixels of a data set."""
    return {"image": Normal((dims["batch"], dims["image"], dims["image"], CHANNELS), images=True)}


def target(dims: Dims) -> Integers:
    """The class of each image (B)."""
    return Integers((dims["batch"],), dims["classes"])


def flops(dims: Dims, pass_: str) -> int:
    """Convolutions and classifier. Train adds two products for each, but one for the stem: images need no gradient."""
    stem, *others = (convolution.flops for convolution in convolutions(dims))
    rest = sum(others) + 2 * 8 * EXPANSION * dims["width"] * dims["classes"]
    return dims["batch"] * (2 * stem + 3 * rest if pass_ == "train" else stem + rest)


def bytes_floor(dims: Dims, pass_: str) -> int:
    """Forward reads images, weights and statistics, and writes logits. Train reads images, and reads and writes
    weights, momentum and statistics."""
    weights, statistics, image = nbytes(parameters(dims)), nbytes(buffers(dims)), nbytes(inputs(dims))
    if pass_ == "train":
        return image + 4 * weights + 2 * statistics
    return image + weights + statistics + 4 * dims["batch"] * dims["classes"]


def items(dims: Dims) -> tuple[int, str]:
    return dims["batch"], "images"
