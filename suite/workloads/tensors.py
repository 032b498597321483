"""What a spec says about its tensors, and the values that they get, which are the same bits in every environment.

A value depends on (seed, name, position) alone: raw words of the counter-based Philox generator
(Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3"), keyed by seed and name, and
our own fixed transform to a normal distribution. Library streams (`Generator.normal`, `jax.random`,
`torch.randn`) change between versions and differ between frameworks, so none of them is used.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from suite.errors import UserError

CHUNK = 1 << 20  # values made at a time: bounds the temporary memory at about 40 MB

# Eight uniform integers per value, summed (Irwin-Hall). Integer sums and IEEE +, -, * are exact
# or correctly rounded everywhere; a logarithm or cosine (Box-Muller) differs between CPUs in the last bit.
TERMS = 8
KURTOSIS = -1.2 / TERMS  # excess kurtosis of the sum, taken out by one Cornish-Fisher term

FLOATS = ("float64", "float32", "bfloat16", "float16")
COMPLEX = ("complex128", "complex64")
WHOLE = ("int64", "int32", "int16", "int8", "uint32", "uint16", "uint8", "bool")
DTYPES = (*FLOATS, *COMPLEX, *WHOLE)


def stored_as(dtype: str) -> np.dtype[Any]:
    """Returns the NumPy type of a tensor's values on the host: its own or, for bfloat16, which NumPy lacks, float32
    with values that bfloat16 holds."""
    return np.dtype("float32" if dtype == "bfloat16" else dtype)


def itemsize(dtype: str) -> int:
    return 2 if dtype == "bfloat16" else np.dtype(dtype).itemsize


@dataclass(frozen=True, slots=True)
class Tensor:
    """What a spec says about a tensor: its shape and the type that it has on every stack. `images` are (batch, height,
    width, channels), and PyTorch gets them with channels first, as its convolutions take them."""

    shape: tuple[int, ...]
    dtype: str = field(default="float32", kw_only=True)
    images: bool = field(default=False, kw_only=True)

    KNOWN: ClassVar[tuple[str, ...]] = DTYPES  # the types that this kind of values can have

    def __post_init__(self) -> None:
        """Raises UserError for a shape or type that a tensor can't have."""
        if self.dtype not in self.KNOWN:
            raise UserError(f"{type(self).__name__} has no type {self.dtype!r}: it can be {', '.join(self.KNOWN)}.")
        if not all(type(length) is int and length > 0 for length in self.shape):
            raise UserError(f"A tensor's shape has whole numbers from 1 on, not {self.shape!r}.")
        if self.images and len(self.shape) != 4:
            raise UserError(f"Images are (batch, height, width, channels), not of shape {self.shape!r}.")

    @property
    def channels_first(self) -> tuple[int, ...]:
        """Returns the shape in PyTorch: that of images with their channels before height and width."""
        return (self.shape[0], self.shape[3], *self.shape[1:3]) if self.images else self.shape

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        return self.size * itemsize(self.dtype)

    @property
    def differentiable(self) -> bool:
        """Whether gradients with regard to it are taken where nobody says of what they are taken."""
        return self.dtype in (*FLOATS, *COMPLEX)

    def values(self, words: np.random.Philox) -> NDArray[Any]:
        """Returns the tensor's values, of any shape and type that hold them, from a generator of its own."""
        raise TypeError(f"{type(self).__name__} says nothing about its values")

    def made(self, name: str, seed: int) -> NDArray[Any]:
        """Returns the values of a tensor of this name, of any shape and type that hold them."""
        return self.values(random_words(f"{seed}/{name}"))


@dataclass(frozen=True, slots=True)
class Normal(Tensor):
    """Values N(mean, sigma^2); sigma 0 makes a constant. There are at most 524,281 different ones, unless `fine`:
    then values are as good as all different, which matters where they are sorted or counted."""

    sigma: float = 1.0
    mean: float = 0.0
    fine: bool = field(default=False, kw_only=True)

    KNOWN: ClassVar[tuple[str, ...]] = (*FLOATS, *COMPLEX)

    def values(self, words: np.random.Philox) -> NDArray[Any]:
        """Returns normally distributed values; of complex ones, both parts are."""
        parts = 2 if self.dtype in COMPLEX else 1
        values = np.empty(parts * self.size, dtype="float64" if self.dtype in ("float64", *COMPLEX) else "float32")
        bits = 32 if self.fine else 16
        mean, deviation = TERMS * (2**bits - 1) / 2, math.sqrt(TERMS * (2.0 ** (2 * bits) - 1) / 12)
        for start in range(0, values.size, CHUNK):
            part = values[start : start + CHUNK]
            drawn = np.asarray(words.random_raw(part.size * TERMS * bits // 64), dtype="<u8")
            terms = drawn.view(f"<u{bits // 8}").reshape(-1, TERMS)
            x = (terms.sum(axis=1, dtype=np.float64) - mean) / deviation
            x -= KURTOSIS / 24.0 * (x * x * x - 3.0 * x)
            part[:] = x * self.sigma + self.mean
        return values.view(np.complex128) if parts == 2 else values


@dataclass(frozen=True, slots=True)
class Uniform(Tensor):
    """Values spread evenly from `low` up to `high`."""

    low: float = 0.0
    high: float = 1.0

    KNOWN: ClassVar[tuple[str, ...]] = FLOATS

    def values(self, words: np.random.Philox) -> NDArray[Any]:
        share = (np.asarray(words.random_raw(self.size)) >> np.uint64(11)) * 2.0**-53
        return self.low + share * (self.high - self.low)


@dataclass(frozen=True, slots=True)
class Integers(Tensor):
    """Uniform whole numbers from `low` to `below` - 1: token ids, class labels, lengths."""

    below: int
    low: int = 0
    dtype: str = field(default="int32", kw_only=True)

    KNOWN: ClassVar[tuple[str, ...]] = WHOLE

    def __post_init__(self) -> None:
        """Raises UserError for an empty range, and for one that the type doesn't hold."""
        Tensor.__post_init__(self)
        least, most = (0, 1) if self.dtype == "bool" else (np.iinfo(self.dtype).min, np.iinfo(self.dtype).max)
        if not least <= self.low < self.below <= most + 1:
            raise UserError(
                f"Whole numbers from {self.low} to under {self.below} are none, or {self.dtype} doesn't hold them: it "
                f"holds {least} to {most}."
            )

    def values(self, words: np.random.Philox) -> NDArray[Any]:
        raw, span = np.asarray(words.random_raw(self.size), dtype="<u8"), self.below - self.low
        if span > 2**32:
            return (raw % np.uint64(span)).view(np.int64) + self.low  # uneven by span / 2^64
        # 32 random bits times `span`, divided by 2^32: uniform up to a relative error of span / 2^32.
        return (((raw >> np.uint64(32)) * np.uint64(span)) >> np.uint64(32)).astype(np.int64) + self.low


@dataclass(frozen=True, slots=True)
class Permutation(Tensor):
    """The whole numbers from 0 to n - 1 in random order, along the last axis."""

    dtype: str = field(default="int32", kw_only=True)

    KNOWN: ClassVar[tuple[str, ...]] = WHOLE[:-1]

    def values(self, words: np.random.Philox) -> NDArray[Any]:
        raw = np.asarray(words.random_raw(self.size)).reshape(self.shape)
        return np.argsort(raw, axis=-1, kind="stable")


@dataclass(frozen=True, slots=True)
class Ascending(Tensor):
    """0, 1, 2, … along the last axis, times `step`."""

    step: float = 1.0

    KNOWN: ClassVar[tuple[str, ...]] = (*FLOATS, *WHOLE[:-1])

    def values(self, words: np.random.Philox) -> NDArray[Any]:
        return np.broadcast_to(np.arange(self.shape[-1]) * self.step, self.shape)


@dataclass(frozen=True, slots=True)
class PositiveDefinite(Tensor):
    """Symmetric positive definite matrices over the last two axes, whose eigenvalues run evenly in their logarithm from
    1 down to 1 / `condition`."""

    condition: float = 100.0

    KNOWN: ClassVar[tuple[str, ...]] = ("float64", "float32")

    def values(self, words: np.random.Philox) -> NDArray[Any]:
        """Returns D - 2 (v w^T + w v^T) + 4 (v.w) v v^T: D, the eigenvalues, between two reflections at a random unit
        vector v, with w = D v. Only sums rounded once and single products, so that every processor gives the same."""
        n, count = self.shape[-1], math.prod(self.shape[:-2])
        steps = [self.condition ** (-k / max(1, n - 1)) for k in range(n)]
        eigenvalues = np.array(steps, np.float32).astype(np.float64)  # a pow differs between processors in its last bit
        made = np.empty((count, n, n))
        for k in range(count):
            v = (np.asarray(words.random_raw(n)) >> np.uint64(11)) * 2.0**-52 - 1.0
            v /= math.sqrt(math.fsum(v * v))
            w = eigenvalues * v
            both = np.multiply.outer(v, w)
            made[k] = np.diag(eigenvalues) - 2.0 * (both + both.T) + (4.0 * math.fsum(v * w)) * np.multiply.outer(v, v)
        return made


@dataclass(frozen=True, slots=True)
class Constant(Tensor):
    """One value everywhere."""

    value: float = 0.0

    def values(self, words: np.random.Philox) -> NDArray[Any]:
        return np.full(self.shape, self.value)


@dataclass(frozen=True, slots=True)
class Stored(Tensor):
    """The array of a .npy file."""

    path: Path

    def values(self, words: np.random.Philox) -> NDArray[Any]:
        return np.asarray(np.load(self.path, allow_pickle=False))


@dataclass(frozen=True, slots=True)
class Stress:
    """A change of a parameter with which numerically bad formulas fail: its values times `factor`, plus `shift`."""

    factor: float = 1.0
    shift: float = 0.0


def fan_in(*shape: int) -> Normal:
    """Returns a weight of shape (inputs, ..., outputs): N(0, 1/fan_in), all but the last dimension being inputs."""
    return Normal(shape, 1.0 / math.sqrt(math.prod(shape[:-1])))


def nbytes(tensors: Mapping[str, Tensor]) -> int:
    """Returns the bytes of all tensors together."""
    return sum(tensor.nbytes for tensor in tensors.values())


def random_words(key: str) -> np.random.Philox:
    """Returns a generator of 64-bit words that depend on nothing but a text. Bit-exact on every machine."""
    digest = hashlib.sha256(key.encode()).digest()[:16]
    return np.random.Philox(key=np.frombuffer(digest, dtype="<u8"))


def generate(tensor: Tensor, name: str, seed: int) -> NDArray[Any]:
    """Returns the values of one tensor in C order, in its shape and the type that `stored_as` says. Bit-exact on every
    machine."""
    values = tensor.made(name, seed).reshape(tensor.shape)
    if tensor.dtype == "bfloat16":
        values = rounded_to_bfloat16(values.astype(np.float32))
    return np.asarray(values.astype(stored_as(tensor.dtype), copy=False), order="C")


def rounded_to_bfloat16(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """Returns finite float32 values rounded to the nearest that bfloat16 holds, ties to even."""
    bits = values.view(np.uint32)
    return ((bits + (((bits >> 16) & 1) + np.uint32(0x7FFF))) & np.uint32(0xFFFF0000)).view(np.float32)


def generate_all(tensors: Mapping[str, Tensor], group: str, seed: int) -> Iterator[tuple[str, NDArray[Any]]]:
    """Yields (name, values) one at a time, so that a model is placed without ever being whole in host memory."""
    for name, tensor in tensors.items():
        yield name, generate(tensor, f"{group}/{name}", seed)


def exact(values: NDArray[Any]) -> NDArray[Any]:
    """Returns values in the type of a reference's argument: the widest of their kind; signed whole numbers in int64, as
    indices are, unsigned ones and truth values in their own."""
    widest = {"f": np.float64, "c": np.complex128, "i": np.int64}
    return values.astype(widest.get(values.dtype.kind, values.dtype))


def stressed(spec: Any, dims: Mapping[str, int]) -> dict[str, Tensor]:
    """Returns a spec's parameters with the changes of its `STRESSED`, which names parameters by globs; empty if the
    spec has no `STRESSED`. If several globs match a name, the first counts. Raises UserError for a glob that matches no
    name."""
    changes: Mapping[str, Stress] = getattr(spec, "STRESSED", {})
    if not changes:
        return {}
    parameters: Mapping[str, Tensor] = spec.parameters(dims)
    for glob in changes:
        if not any(fnmatchcase(name, glob) for name in parameters):
            raise UserError(f"STRESSED has '{glob}', but no parameter of {spec.TITLE} matches it.")
    tensors: dict[str, Tensor] = {}
    for name, tensor in parameters.items():
        if not isinstance(tensor, Normal):
            raise TypeError(f"{name}: a spec's parameters are Normal, not {type(tensor).__name__}")
        stress = next((change for glob, change in changes.items() if fnmatchcase(name, glob)), Stress())
        mean = tensor.mean * stress.factor + stress.shift
        tensors[name] = replace(tensor, sigma=tensor.sigma * stress.factor, mean=mean)
    return tensors
