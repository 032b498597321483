"""The answer with which every stack is compared. It comes from a workload's float64 reference, or from a golden file
that another implementation made.

`python -m tools.golden` makes the golden file (`golden/<size>.npz` in a model's folder) from the same canonical
weights. At the sizes `tiny` and `odd` it has whole tensors, at larger sizes a digest of each.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suite import protocol
from suite.errors import UserError
from suite.reference.digests import CHUNK, Array, Digest, digest, from_figures
from suite.reference.optimizers import OPTIMIZERS
from suite.workloads import trees

# Where other tensors are digests, those of up to so many elements are kept whole, or have their noise marked. They are
# biases and norms, in whose movement some elements can be noise.
WHOLE_MAX = 1 << 14


@dataclass(slots=True)
class ReferenceAnswer:
    """The answer with which a stack is compared. For a forward pass, only `outputs` and `stressed` are filled.
    `outputs` has `output`, or of several results `output/…`.

    `moved` is what `GATE_STEPS` steps add to each parameter and buffer. `shrunk` is the share of itself that each
    parameter loses meanwhile (see `shrinkage`). `noise` marks elements whose true gradient is zero: AdamW turns their
    rounding errors into plus or minus the learning rate, so they are set to zero in `moved`. Where digests are stored,
    `noise` has no marks for tensors of more than `WHOLE_MAX` elements.
    `stressed` are the results with the stressed weights of the spec's `STRESSED`: the output; in the train pass also
    the loss and, as `buffer/<name>`, what a step adds to each buffer. `curve` has the losses of the steps that follow
    `GATE_STEPS`, of a question's model.
    """

    outputs: Mapping[str, Array | Digest]
    losses: list[float] = field(default_factory=list)
    gradients: dict[str, Array | Digest] = field(default_factory=dict)
    moved: dict[str, Array | Digest] = field(default_factory=dict)
    shrunk: dict[str, float] = field(default_factory=dict)
    noise: dict[str, NDArray[np.bool_]] = field(default_factory=dict)
    stressed: dict[str, Array | Digest] = field(default_factory=dict)
    curve: list[float] = field(default_factory=list)

    @property
    def exact(self) -> bool:
        """Whether the answer has whole tensors, not digests."""
        return not any(isinstance(output, Digest) for output in self.outputs.values())

    @property
    def largest_gradient(self) -> float:
        return max((peak(gradient) for gradient in self.gradients.values()), default=0.0)

    def add_movement(self, before: Iterable[tuple[str, Array]], after: Callable[[str], Array], whole: bool) -> None:
        """Fills `moved` and `shrunk`, one tensor after the other: `whole` keeps tensors, otherwise digests are kept.
        `after` gives a tensor by its name. `noise` and `gradients` must be filled before."""
        for name, start in before:
            moved = movement(start, after(name), self.noise.get(name))
            self.moved[name] = moved if whole else digest(moved, moved_key(name, name in self.gradients))
            self.shrunk[name] = shrinkage(start, moved)

    def take_steps_of(self, other: ReferenceAnswer) -> None:
        """Takes what another optimizer's steps give in place of this answer's."""
        self.losses, self.moved, self.shrunk, self.noise = other.losses, other.moved, other.shrunk, other.noise

    def digested(self) -> ReferenceAnswer:
        """Returns this answer with digests in place of tensors, as golden files of the larger sizes have it."""
        return ReferenceAnswer(
            {name: as_digest(output, name) for name, output in self.outputs.items()},
            list(self.losses),
            {name: as_digest(gradient, f"gradient/{name}") for name, gradient in self.gradients.items()},
            {name: as_digest(moved, moved_key(name, name in self.gradients)) for name, moved in self.moved.items()},
            dict(self.shrunk),
            {name: mask for name, mask in self.noise.items() if mask.size <= WHOLE_MAX},
            {name: as_digest(value, f"stressed/{name}") for name, value in self.stressed.items()},
        )


def moved_key(name: str, trained: bool) -> str:
    """Returns the name with which the digest of a movement is made: `moved/…` for a parameter, `buffer/…` for a
    buffer."""
    return f"moved/{name}" if trained else f"buffer/{name}"


def as_digest(value: Array | Digest, name: str) -> Digest:
    return value if isinstance(value, Digest) else digest(value, name)


def movement(before: Array, after: Array, noise: NDArray[np.bool_] | None = None) -> Array:
    """Returns after - before, with zeros where `noise` is true. float32 tensors are subtracted in float32, which is
    exact where they are near each other."""
    moved: Array = np.subtract(after, before)
    if noise is not None:
        moved[noise] = 0.0
    return moved


def shrinkage(before: Array, moved: Array) -> float:
    """Returns the share of itself that a tensor lost: -<moved, before> / ||before||^2. Weight decay makes this share
    lr * decay * steps. Other movement hardly changes it, because that is nearly perpendicular to the tensor."""
    start, step = np.asarray(before).reshape(-1), np.asarray(moved).reshape(-1)
    along, squares = 0.0, 0.0
    for first in range(0, start.size, CHUNK):
        p, m = (vector[first : first + CHUNK].astype(np.float64) for vector in (start, step))
        along += float(p @ m)
        squares += float(p @ p)
    return -along / squares if squares else 0.0


def peak(value: Array | Digest) -> float:
    return value.peak if isinstance(value, Digest) else float(np.abs(value).max(initial=0.0))


class Steps:
    """Collects the losses of `GATE_STEPS` steps, and finds the elements whose gradients are only rounding noise."""

    def __init__(self, whole: bool = True) -> None:
        self.losses: list[float] = []
        self.largest = 0.0
        self.whole = whole
        self.smallest: dict[str, Array] = {}

    def add(self, loss: float, gradients: Iterable[tuple[str, Array]]) -> None:
        self.losses.append(float(loss))
        for name, gradient in gradients:
            self.largest = max(self.largest, float(np.abs(gradient).max(initial=0.0)))
            if self.whole or gradient.size <= WHOLE_MAX:
                self.smallest[name] = np.minimum(self.smallest.get(name, np.inf), np.abs(gradient))

    def noise(self) -> dict[str, NDArray[np.bool_]]:
        """Returns {parameter: mask of the elements whose gradient was zero up to rounding in at least one step}."""
        return {name: s < protocol.ZERO_GRADIENT * self.largest for name, s in self.smallest.items()}


def from_reference(
    spec: Any,
    dims: Mapping[str, int],
    parameters: Mapping[str, Array],
    batch: Mapping[str, Array],
    compared: Callable[[Any], dict[str, Array]],
    optimizer_name: str | None,
    buffers: Iterable[str] = (),
) -> ReferenceAnswer:
    """Returns the answer of a spec's `reference` for arguments in float64 and int64. Without a target in `batch`, it
    has only the output of a forward pass. `compared` returns results by name, as they are compared. `optimizer_name`
    is that of the steps. `buffers` names those of the parameters that are state; a reference may return what a step
    makes of them."""
    inputs = {name: value for name, value in batch.items() if name != "target"}
    target = batch.get("target")
    first = spec.reference(dims, parameters, **inputs, target=target)
    outputs = compared(first["output"])
    if "loss" not in first:
        return ReferenceAnswer(outputs)
    state = {name: parameters[name] for name in buffers}
    # A question's reference gives the loss alone: dialects judge each other's gradients.
    gradients = {name: first[name] for name in parameters if name in first and name not in state}
    expected = ReferenceAnswer(outputs, [float(first["loss"])], gradients)
    if optimizer_name is None:
        return expected
    steps = Steps()
    optimizer = OPTIMIZERS[optimizer_name]({name: p for name, p in parameters.items() if name not in state})
    for _ in range(protocol.GATE_STEPS):
        answer = spec.reference(dims, {**optimizer.parameters, **state}, **inputs, target=target)
        gradients = {name: answer[name] for name in optimizer.parameters}
        steps.add(answer["loss"], gradients.items())
        optimizer.step(gradients)
        state = {name: answer.get(name, value) for name, value in state.items()}
    expected.losses, expected.noise = steps.losses, steps.noise()
    known = {name: p for name, p in parameters.items() if name not in state or name in first}
    expected.add_movement(known.items(), {**optimizer.parameters, **state}.__getitem__, whole=True)
    return expected


def of_model(
    exact: Callable[..., Any],
    values: Mapping[str, Array],
    batch: Mapping[str, Array],
    compared: Callable[[Any], dict[str, Array]],
    pass_: str,
    further: int = 0,
) -> ReferenceAnswer:
    """Returns the answer of a question's model. `exact` makes it in float64 from parameters and buffers (`values`) and
    inputs; its steps are those of its own optimizer, of which it takes so many `further` ones for their losses alone.
    The movement of buffers is that of the first step."""
    model = exact(values, batch)
    answer = ReferenceAnswer(compared(model.output()))
    if pass_ == "forward":
        return answer
    steps = Steps()
    for step in range(protocol.GATE_STEPS if pass_ == "train" else 1):
        loss, gradients = model.step()
        steps.add(loss, gradients.items())
        if step == 0:
            answer.gradients = dict(gradients)
            buffers = {name: value for name, value in values.items() if name not in gradients}
            answer.add_movement(buffers.items(), model.values().__getitem__, whole=True)
    answer.losses = steps.losses
    if pass_ == "train":
        answer.noise = steps.noise()
        parameters = {name: values[name] for name in answer.gradients}
        answer.add_movement(parameters.items(), model.values().__getitem__, whole=True)
        answer.curve = [float(model.step()[0]) for _ in range(further)]
    return answer


def named(outputs: Any) -> dict[str, Array]:
    """Returns the leaves of a tree of results by name: `output` if it is one, else `output/…`."""
    return {f"output/{name}" if name else "output": np.asarray(leaf) for name, leaf in trees.leaves(outputs)}


def under_stress(
    spec: Any, dims: Mapping[str, int], parameters: Mapping[str, Array], batch: Mapping[str, Array]
) -> dict[str, Array | Digest]:
    """Returns the output and, with a target in `batch`, the loss of a spec's `reference` for stressed parameters, all
    in float64 and int64."""
    answer = spec.reference(dims, parameters, **{"target": None, **batch})
    return {name: answer[name] for name in ("output", "loss") if name in answer}


def save(path: Path, expected: ReferenceAnswer) -> None:
    """Writes a golden file. Tensors are rounded to float32; the error of that is far below every tolerance."""
    tensors: dict[str, Any] = {"losses": np.asarray(expected.losses)}
    for name, output in expected.outputs.items():
        tensors |= entry(name, output)
    for name, gradient in expected.gradients.items():
        tensors |= entry(f"gradient/{name}", gradient)
    for name, moved in expected.moved.items():
        tensors |= entry(f"moved/{name}", moved)
        tensors[f"shrunk/{name}"] = np.asarray(expected.shrunk[name])
    for name, value in expected.stressed.items():
        tensors |= entry(f"stressed/{name}", value)
    for name, mask in expected.noise.items():
        if mask.any():
            tensors[f"noise/{name}"] = np.packbits(mask.reshape(-1))
            tensors[f"shape/{name}"] = np.asarray(mask.shape)
    path.parent.mkdir(exist_ok=True)
    np.savez_compressed(path, **tensors)


def entry(name: str, value: Array | Digest) -> dict[str, Array]:
    if isinstance(value, Digest):
        return {f"digest/{name}": np.asarray(value.figures)}
    return {name: np.asarray(value, np.float32)}


def with_optimizer(golden: Path, optimizer: str) -> Path:
    """Returns the golden file, in digests, of the same step with another optimizer than the spec's."""
    return golden.with_suffix(f".{optimizer}.npz")


def load(path: Path) -> ReferenceAnswer:
    """Reads a golden file. Raises UserError for a lacking file, and for one of an earlier version, which lacks what a
    step changes."""
    if not path.exists():
        raise UserError(f"{path} is missing. `.venv/bin/python -m tools.golden` makes it.")
    with np.load(path) as file:
        stored = {name: file[name] for name in file.files}
    if stored["losses"].size and not any(name.startswith("shrunk/") for name in stored):
        raise UserError(
            f"{path} was made by an earlier version and lacks what a step changes. Make it again: "
            f"`.venv/bin/python -m tools.golden --workload={path.parents[1].name} --size={path.stem}`."
        )
    tensors: dict[str, Any] = {
        n.removeprefix("digest/"): from_figures(v) if n.startswith("digest/") else v for n, v in stored.items()
    }

    def group(prefix: str) -> dict[str, Any]:
        return {n.removeprefix(f"{prefix}/"): v for n, v in tensors.items() if n.startswith(f"{prefix}/")}

    outputs = {name: value for name, value in tensors.items() if name.partition("/")[0] == "output"}
    losses = [float(loss) for loss in tensors["losses"]]
    expected = ReferenceAnswer(outputs, losses, group("gradient"), group("moved"))
    expected.shrunk = {name: float(value) for name, value in group("shrunk").items()}
    expected.stressed = group("stressed")
    packed = group("noise")
    for name, shape in group("shape").items():
        mask = np.unpackbits(packed[name], count=math.prod(shape))
        expected.noise[name] = mask.astype(np.bool_).reshape(shape)
    return expected
