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
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suite.errors import UserError

CHUNK = 1 << 20  # values made at a time: bounds the temporary memory at about 40 MB

# Eight uniform 16-bit integers per value, summed (Irwin-Hall). Integer sums and IEEE +, -, * are exact
# or correctly rounded everywhere; a logarithm or cosine (Box-Muller) differs between CPUs in the last bit.
TERMS = 8
MEAN = TERMS * (2**16 - 1) / 2
DEVIATION = math.sqrt(TERMS * (2.0**32 - 1) / 12)
KURTOSIS = -1.2 / TERMS  # excess kurtosis of the sum, taken out by one Cornish-Fisher term


@dataclass(frozen=True, slots=True)
class Tensor:
    """What a spec says about a tensor: its shape. Each value has 4 bytes."""

    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """Returns the number of values."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Returns the bytes of all values."""
        return 4 * self.size


@dataclass(frozen=True, slots=True)
class Normal(Tensor):
    """A float32 tensor with values N(mean, sigma^2); sigma 0 makes a constant."""

    sigma: float = 1.0
    mean: float = 0.0


@dataclass(frozen=True, slots=True)
class Integers(Tensor):
    """An int32 tensor with uniform values from 0 to `below` - 1: token ids, class labels."""

    below: int


@dataclass(frozen=True, slots=True)
class Stress:
    """A change of a parameter with which numerically bad formulas fail: its values times `factor`, plus `shift`."""

    factor: float = 1.0
    shift: float = 0.0


def fan_in(*shape: int) -> Normal:
    """Returns a weight of shape (inputs, ..., outputs): N(0, 1/fan_in), all but the last dimension being inputs."""
    return Normal(shape, 1.0 / math.sqrt(math.prod(shape[:-1])))


def generate(tensor: Tensor, name: str, seed: int) -> NDArray[Any]:
    """Returns the values of one tensor: float32 or int32, C order, shape `tensor.shape`. Bit-exact on every machine."""
    key = hashlib.sha256(f"{seed}/{name}".encode()).digest()[:16]
    words = np.random.Philox(key=np.frombuffer(key, dtype="<u8"))
    if isinstance(tensor, Integers):
        # 32 random bits times `below`, divided by 2^32: uniform up to a relative error of below / 2^32.
        bits = np.asarray(words.random_raw(tensor.size), dtype="<u8") >> np.uint64(32)
        return ((bits * np.uint64(tensor.below)) >> np.uint64(32)).astype(np.int32).reshape(tensor.shape)
    if not isinstance(tensor, Normal):
        raise TypeError(f"{name}: a spec's tensors are Normal or Integers, not {type(tensor).__name__}")
    values = np.empty(tensor.size, dtype=np.float32)
    for start in range(0, tensor.size, CHUNK):
        part = values[start : start + CHUNK]
        bits = np.asarray(words.random_raw(2 * part.size), dtype="<u8").view("<u2").reshape(-1, TERMS)
        x = (bits.sum(axis=1, dtype=np.float64) - MEAN) / DEVIATION
        x -= KURTOSIS / 24.0 * (x * x * x - 3.0 * x)
        part[:] = x * tensor.sigma + tensor.mean
    return values.reshape(tensor.shape)


def generate_all(tensors: Mapping[str, Tensor], group: str, seed: int) -> Iterator[tuple[str, NDArray[Any]]]:
    """Yields (name, values) one at a time, so that a model is placed without ever being whole in host memory."""
    for name, tensor in tensors.items():
        yield name, generate(tensor, f"{group}/{name}", seed)


def buffers_of(spec: Any, dims: Mapping[str, int]) -> dict[str, Tensor]:
    """Returns the state that a step changes without a gradient (running statistics); empty for most workloads."""
    buffers = getattr(spec, "buffers", None)
    return dict(buffers(dims)) if buffers else {}


def stressed(spec: Any, dims: Mapping[str, int]) -> dict[str, Tensor]:
    """Returns a spec's parameters with the changes of its `STRESSED`, which names parameters by globs; empty if the
    spec has no `STRESSED`. If several globs match a name, the first counts. Raises UserError for a glob that matches no
    name."""
    changes: Mapping[str, Stress] = getattr(spec, "STRESSED", {})
    parameters: Mapping[str, Tensor] = spec.parameters(dims)
    for glob in changes:
        if not any(fnmatchcase(name, glob) for name in parameters):
            raise UserError(f"STRESSED has '{glob}', but no parameter of {spec.TITLE} matches it.")
    tensors: dict[str, Tensor] = {}
    for name, tensor in parameters.items() if changes else ():
        stress = next((change for glob, change in changes.items() if fnmatchcase(name, glob)), Stress())
        if not isinstance(tensor, Normal):
            raise TypeError(f"{name}: a spec's parameters are Normal, not {type(tensor).__name__}")
        mean = tensor.mean * stress.factor + stress.shift
        tensors[name] = replace(tensor, sigma=tensor.sigma * stress.factor, mean=mean)
    return tensors
