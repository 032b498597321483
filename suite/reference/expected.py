"""What a step must give: from a workload's float64 reference, or from a golden file of another implementation.

A golden file (`golden/<size>.npz` in a model's folder) is made by `invoke golden` from the same canonical
weights. At small sizes it holds whole tensors; at published sizes each tensor's norm, its projection on
fixed signs and its largest element, which a wrong tensor of millions of elements can't all match.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suite import protocol
from suite.reference.optimizers import OPTIMIZERS

Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Digest:
    """A tensor too large to keep: its Frobenius norm, projection on fixed signs, and largest magnitude."""

    norm: float
    projection: float
    peak: float


@dataclass(slots=True)
class Expected:
    """What a stack is held to. `gradients`, `losses` and `after` are empty for a forward pass alone.

    `after`: parameters and buffers after `GATE_STEPS` steps; `noise` marks elements whose true gradient is
    zero, where AdamW makes plus or minus the learning rate of rounding errors.
    """

    output: Array | Digest
    losses: list[float] = field(default_factory=list)
    gradients: dict[str, Array | Digest] = field(default_factory=dict)
    after: dict[str, Array] = field(default_factory=dict)
    noise: dict[str, NDArray[np.bool_]] = field(default_factory=dict)

    @property
    def exact(self) -> bool:
        """Whether tensors are whole."""
        return not isinstance(self.output, Digest)

    @property
    def largest_gradient(self) -> float:
        """The largest |g| of all parameters."""
        return max((peak(gradient) for gradient in self.gradients.values()), default=0.0)


def peak(value: Array | Digest) -> float:
    """The largest magnitude."""
    return value.peak if isinstance(value, Digest) else float(np.abs(value).max(initial=0.0))


def digest(value: Array, name: str) -> Digest:
    """A tensor's digest; the signs depend on its name and size alone."""
    flat = np.asarray(value).reshape(-1)
    key = hashlib.sha256(f"signs/{name}".encode()).digest()[:16]
    words = np.random.Philox(key=np.frombuffer(key, dtype="<u8"))
    squares, projection, largest = 0.0, 0.0, 0.0
    for start in range(0, flat.size, 1 << 20):
        part = flat[start : start + (1 << 20)].astype(np.float64)
        bits = np.unpackbits(words.random_raw(-(-part.size // 64)).astype("<u8").view(np.uint8))[: part.size]
        squares += float(part @ part)
        projection += float(part @ (1.0 - 2.0 * bits))
        largest = max(largest, float(np.abs(part).max(initial=0.0)))
    return Digest(math.sqrt(squares), projection, largest)


def digest_tolerance(spec: Any, precision: str, name: str) -> float:
    """Largest relative error of a tensor's digest; a spec may allow its gradients more (`GRADIENT_TOLERANCE`)."""
    own: Mapping[str, float] = getattr(spec, "GRADIENT_TOLERANCE", {}) if name.startswith("gradient/") else {}
    return own.get(precision, protocol.DIGEST_TOLERANCE[precision])


class Steps:
    """Collects what `GATE_STEPS` steps must give, and where gradients are nothing but noise."""

    def __init__(self) -> None:
        self.losses: list[float] = []
        self.largest = 0.0
        self.smallest: dict[str, Array] = {}

    def add(self, loss: float, gradients: Mapping[str, Array]) -> None:
        """One step's loss and gradients, in float64."""
        self.losses.append(float(loss))
        self.largest = max(self.largest, *(float(np.abs(g).max()) for g in gradients.values()))
        for name, gradient in gradients.items():
            self.smallest[name] = np.minimum(self.smallest.get(name, np.inf), np.abs(gradient))

    def noise(self) -> dict[str, NDArray[np.bool_]]:
        """By parameter, the elements whose gradient was zero but for rounding in some step."""
        return {name: s < protocol.ZERO_GRADIENT * self.largest for name, s in self.smallest.items()}


def from_reference(
    spec: Any, dims: Mapping[str, int], parameters: Mapping[str, Array], batch: Mapping[str, Array]
) -> Expected:
    """The answer of a spec's `reference`; arguments in float64. Without a target, the forward pass alone."""
    inputs = {name: value for name, value in batch.items() if name != "target"}
    target = batch.get("target")
    first = spec.reference(dims, parameters, **inputs, target=target)
    if target is None:
        return Expected(first["output"])
    expected = Expected(first["output"], [float(first["loss"])], {name: first[name] for name in parameters})
    if spec.OPTIMIZER is None:
        return expected
    optimizer, steps = OPTIMIZERS[spec.OPTIMIZER](parameters), Steps()
    for _ in range(protocol.GATE_STEPS):
        answer = spec.reference(dims, optimizer.parameters, **inputs, target=target)
        gradients = {name: answer[name] for name in parameters}
        steps.add(answer["loss"], gradients)
        optimizer.step(gradients)
    expected.losses, expected.after, expected.noise = steps.losses, optimizer.parameters, steps.noise()
    return expected


def save(path: Path, expected: Expected) -> None:
    """Write a golden file: float32 tensors (half a rounding error of float32 is far under every tolerance)."""
    tensors: dict[str, Any] = {"losses": np.asarray(expected.losses), **entry("output", expected.output)}
    for name, gradient in expected.gradients.items():
        tensors |= entry(f"gradient/{name}", gradient)
    for name, value in expected.after.items():
        tensors |= entry(f"after/{name}", value)
    for name, mask in expected.noise.items():
        if mask.any():
            tensors[f"noise/{name}"] = np.packbits(mask.reshape(-1))
    path.parent.mkdir(exist_ok=True)
    np.savez_compressed(path, **tensors)


def entry(name: str, value: Array | Digest) -> dict[str, Array]:
    """One tensor of a golden file."""
    if isinstance(value, Digest):
        return {f"digest/{name}": np.asarray([value.norm, value.projection, value.peak])}
    return {name: np.asarray(value, np.float32)}


def load(path: Path) -> Expected:
    """Read a golden file."""
    with np.load(path) as file:
        stored = {name: file[name] for name in file.files}
    found: dict[str, Any] = {n.removeprefix("digest/"): Digest(*map(float, v)) if n.startswith("digest/") else v
                             for n, v in stored.items()}  # fmt: skip
    expected = Expected(found["output"], [float(loss) for loss in found["losses"]])
    expected.gradients = {n.removeprefix("gradient/"): v for n, v in found.items() if n.startswith("gradient/")}
    expected.after = {n.removeprefix("after/"): v for n, v in found.items() if n.startswith("after/")}
    for name, value in expected.after.items():
        packed = stored.get(f"noise/{name}")
        none = np.zeros(value.shape, np.bool_)
        expected.noise[name] = none if packed is None else unpacked(packed, value.shape)
    return expected


def unpacked(packed: Array, shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """A mask as it was before it was packed."""
    return np.unpackbits(packed)[: math.prod(shape)].astype(np.bool_).reshape(shape)
