"""What a step must give: from a workload's float64 reference, or from a golden file of another implementation.

A golden file (`golden/<size>.npz` in a model's folder) is made by `./stackwars golden` from the same canonical
weights. At small sizes it holds whole tensors; at published sizes a digest of each, which a wrong tensor of millions
of elements can't match.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from suite import protocol
from suite.errors import COMMAND, UserError
from suite.reference.digests import CHUNK, Array, Digest, digest, from_figures
from suite.reference.optimizers import OPTIMIZERS

# Elements of a tensor up to which it is kept whole: biases and norms, whose movement can be noise in places.
WHOLE_MAX = 1 << 14


class Named(Protocol):
    """Tensors by name, made when they are asked for."""

    def __getitem__(self, name: str, /) -> Array:
        """One of them."""


@dataclass(slots=True)
class Expected:
    """What a stack is held to. All but `output` is empty for a forward pass alone.

    `moved`: what `GATE_STEPS` steps add to parameters and buffers; `shrunk`: what part of itself each parameter of a
    digest lost, see `shrinkage`; `noise` marks elements whose true gradient is zero, where AdamW makes plus or minus
    the learning rate of rounding errors. They are zeros in `moved`. In digests, tensors over `WHOLE_MAX` have no
    marks.
    """

    output: Array | Digest
    losses: list[float] = field(default_factory=list)
    gradients: dict[str, Array | Digest] = field(default_factory=dict)
    moved: dict[str, Array | Digest] = field(default_factory=dict)
    shrunk: dict[str, float] = field(default_factory=dict)
    noise: dict[str, NDArray[np.bool_]] = field(default_factory=dict)

    @property
    def exact(self) -> bool:
        """Whether tensors are whole."""
        return not isinstance(self.output, Digest)

    @property
    def largest_gradient(self) -> float:
        """The largest |g| of all parameters."""
        return max((peak(gradient) for gradient in self.gradients.values()), default=0.0)

    def add_movement(self, before: Iterable[tuple[str, Array]], after: Named, whole: bool) -> None:
        """What the steps have done, tensor by tensor; `noise` and `gradients` must be there."""
        for name, start in before:
            moved = movement(start, after[name], self.noise.get(name))
            self.moved[name] = moved if whole else digest(moved, moved_key(name, name in self.gradients))
            self.shrunk[name] = shrinkage(start, moved)

    def digested(self) -> Expected:
        """The same as digests, as a golden file of a published size has it."""
        return Expected(
            whole_or_digest(self.output, "output"),
            list(self.losses),
            {name: whole_or_digest(gradient, f"gradient/{name}") for name, gradient in self.gradients.items()},
            {name: whole_or_digest(each, moved_key(name, name in self.gradients)) for name, each in self.moved.items()},
            dict(self.shrunk),
            {name: mask for name, mask in self.noise.items() if mask.size <= WHOLE_MAX},
        )


def moved_key(name: str, trained: bool) -> str:
    """What a movement's digest is called: a parameter's by the optimizer, a buffer's by the step itself."""
    return f"moved/{name}" if trained else f"buffer/{name}"


def whole_or_digest(value: Array | Digest, name: str) -> Digest:
    """A digest, of a tensor that isn't one yet."""
    return value if isinstance(value, Digest) else digest(value, name)


def movement(before: Array, after: Array, noise: NDArray[np.bool_] | None = None) -> Array:
    """after - before, zero where the true gradient is: of float32 tensors in float32, exact where they are near."""
    moved: Array = np.subtract(after, before)
    if noise is not None:
        moved[noise] = 0.0
    return moved


def shrinkage(before: Array, moved: Array) -> float:
    """-<moved, before> / ||before||^2: the part of itself that a tensor lost. Weight decay alone makes it
    lr decay steps, whatever else moved the tensor: other movement is as good as perpendicular to it."""
    start, step = np.asarray(before).reshape(-1), np.asarray(moved).reshape(-1)
    along, squares = 0.0, 0.0
    for first in range(0, start.size, CHUNK):
        p, m = (each[first : first + CHUNK].astype(np.float64) for each in (start, step))
        along += float(p @ m)
        squares += float(p @ p)
    return -along / squares if squares else 0.0


def peak(value: Array | Digest) -> float:
    """The largest magnitude."""
    return value.peak if isinstance(value, Digest) else float(np.abs(value).max(initial=0.0))


class Steps:
    """Collects what `GATE_STEPS` steps must give, and where gradients are nothing but noise."""

    def __init__(self, whole: bool = True) -> None:
        self.losses: list[float] = []
        self.largest = 0.0
        self.whole = whole
        self.smallest: dict[str, Array] = {}

    def add(self, loss: float, gradients: Mapping[str, Array] | Iterator[tuple[str, Array]]) -> None:
        """One step's loss and gradients, in float64."""
        self.losses.append(float(loss))
        for name, gradient in gradients.items() if isinstance(gradients, Mapping) else gradients:
            self.largest = max(self.largest, float(np.abs(gradient).max(initial=0.0)))
            if self.whole or gradient.size <= WHOLE_MAX:
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
    expected.losses, expected.noise = steps.losses, steps.noise()
    expected.add_movement(parameters.items(), optimizer.parameters, whole=True)
    return expected


def save(path: Path, expected: Expected) -> None:
    """Write a golden file: float32 tensors (half a rounding error of float32 is far under every tolerance)."""
    tensors: dict[str, Any] = {"losses": np.asarray(expected.losses), **entry("output", expected.output)}
    for name, gradient in expected.gradients.items():
        tensors |= entry(f"gradient/{name}", gradient)
    for name, moved in expected.moved.items():
        tensors |= entry(f"moved/{name}", moved)
        tensors[f"shrunk/{name}"] = np.asarray(expected.shrunk[name])
    for name, mask in expected.noise.items():
        if mask.any():
            tensors[f"noise/{name}"] = np.packbits(mask.reshape(-1))
            tensors[f"shape/{name}"] = np.asarray(mask.shape)
    path.parent.mkdir(exist_ok=True)
    np.savez_compressed(path, **tensors)


def entry(name: str, value: Array | Digest) -> dict[str, Array]:
    """One tensor of a golden file."""
    if isinstance(value, Digest):
        return {f"digest/{name}": np.asarray(value.figures)}
    return {name: np.asarray(value, np.float32)}


def load(path: Path) -> Expected:
    """Read a golden file. Raises UserError for one of an earlier version, which has no movement."""
    with np.load(path) as file:
        stored = {name: file[name] for name in file.files}
    if not any(name.startswith("shrunk/") for name in stored):
        raise UserError(
            f"{path} is of an earlier version: it doesn't say what a step writes. Make it again by "
            f"'{COMMAND} golden --workload={path.parents[1].name} --size={path.stem}'."
        )
    found: dict[str, Any] = {
        n.removeprefix("digest/"): from_figures(v) if n.startswith("digest/") else v for n, v in stored.items()
    }

    def group(prefix: str) -> dict[str, Any]:
        return {n.removeprefix(f"{prefix}/"): v for n, v in found.items() if n.startswith(f"{prefix}/")}

    expected = Expected(found["output"], [float(loss) for loss in found["losses"]], group("gradient"), group("moved"))
    expected.shrunk = {name: float(value) for name, value in group("shrunk").items()}
    shapes = group("shape")
    expected.noise = {name: unpacked(packed, tuple(shapes[name])) for name, packed in group("noise").items()}
    return expected


def unpacked(packed: Array, shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """A mask as it was before it was packed."""
    return np.unpackbits(packed)[: math.prod(shape)].astype(np.bool_).reshape(shape)
