"""A model of a question file: a module that its function `torch_model` returns, with the file's own loss and optimizer.
Its weights are the suite's own, so that all stacks have the same ones, whatever their versions."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from types import ModuleType
from typing import Any, NamedTuple

from numpy.typing import NDArray

from suite.workloads import trees
from suite.workloads.questions.functions import LOSS, MODEL, OPTIMIZER
from suite.workloads.tensors import Normal, Tensor

MODELS = ("torch", "jax", "keras")  # dialects
OWN = "own"  # the name of an optimizer that a file brings
SPREAD = 0.05  # of a parameter that is the same everywhere in a new module: a weight of a norm, a bias
Values = Mapping[str, Any]


# The kinds of modules, by the names of their classes in PyTorch, Flax and Equinox.
KINDS = {
    "conv_transpose": "conv.*transpose", "conv": r"conv(\d|$)", "embedding": "embed", "layer_norm": "layer_?norm",
    "batch_norm": "batch_?norm", "group_norm": "group_?norm", "rms_norm": "rms_?norm", "lstm": "lstm", "gru": "gru",
    "rnn": "^rnn$", "attention": "attention", "dropout": "drop", "linear": "linear|dense",
}  # fmt: skip
# How a framework's own layout is made of the canonical one, and back, by what a leaf's `layout` says.
NATIVE = {"": (), "T": (1, 0), "HWIO": (3, 2, 0, 1)}
CANONICAL = {"": (), "T": (1, 0), "HWIO": (2, 3, 1, 0)}


class ModelLeaf(NamedTuple):
    """A parameter of a model, or a buffer that a step changes (then it isn't `trained`). `shape` is in canonical
    layout; `constant` is the one value that all elements have in a new module, or None; `kind` is that of the module
    that has it, and `layout` a key of NATIVE."""

    name: str
    trained: bool
    shape: tuple[int, ...]
    dtype: str
    constant: float | None
    fan_in: int | None
    kind: str
    layout: str = ""

    @property
    def short(self) -> str:
        """Returns the name that its author knows: the suite has a PyTorch module in another one."""
        return self.name.removeprefix("module.")

    @property
    def native_shape(self) -> tuple[int, ...]:
        return tuple(self.shape[axis] for axis in NATIVE[self.layout]) or tuple(self.shape)

    def native(self, value: NDArray[Any]) -> NDArray[Any]:
        return value.transpose(NATIVE[self.layout]) if self.layout else value

    def canonical(self, value: NDArray[Any]) -> NDArray[Any]:
        return value.transpose(CANONICAL[self.layout]) if self.layout else value

    def drawn(self) -> Tensor:
        """Returns its values: those that are drawn in a new module get N(0, 1/fan in); those that are one constant get
        small deviations from it, so that a norm or a bias that is left out is seen."""
        by_shape = math.prod(self.shape[:-1]) if len(self.shape) > 2 else max(self.shape, default=1)
        sigma = 1 / math.sqrt(self.fan_in or by_shape)
        if self.constant is not None or len(self.shape) < 2:
            sigma = SPREAD
        return Normal(tuple(self.shape), sigma, self.constant or 0.0, fine=True, dtype=self.dtype)


@dataclass(frozen=True, slots=True)
class ModelForm:
    """A module: `form` is its dialect's module in dialects/, and `file` the part of the question file that has the
    functions of that `dialect`."""

    form: ModuleType
    file: ModuleType
    dialect: str

    @property
    def make(self) -> Any:
        return self.of(MODEL)

    @property
    def optimizer(self) -> Any:
        return self.of(OPTIMIZER)

    def of(self, name: str) -> Any:
        return getattr(self.file, f"{self.dialect}{name}", None)

    @property
    def own_loss(self) -> Any:
        return self.of(LOSS) or getattr(self.file, LOSS[1:], None)

    @property
    def labels(self) -> tuple[str, ...]:
        """Returns the names of the inputs that the file's loss takes beside the outputs."""
        return tuple(inspect.signature(self.own_loss).parameters)[1:] if self.own_loss else ()

    def loss(self, outputs: Any, arguments: Values, mean_cube: Callable[[Any], Any]) -> Any:
        """Returns what gradients are taken of: the file's loss of the module's outputs and of those inputs that it
        names; without one the sum of mean |y|^3 of all floating results y."""
        if self.own_loss:
            return self.own_loss(outputs, **{name: arguments[name] for name in self.labels if name in arguments})
        cubes = [cube for _, leaf in trees.leaves(self.form.tree(outputs)) if (cube := mean_cube(leaf)) is not None]
        if not cubes:
            raise ValueError("no result is a floating-point one, so there is nothing to take gradients of")
        return sum(cubes)

    def code(self, of_inputs: Callable[[Values], dict[str, Any]]) -> Any:
        return self.form.code(self.make, of_inputs, self.loss, self.optimizer, self.labels)

    def leaves(self, arguments: Values) -> list[ModelLeaf]:
        """Returns the parameters and the buffers of a new module. `arguments` are examples of its inputs."""
        return [ModelLeaf(*leaf) for leaf in self.form.leaves(self.make, arguments, self.labels)]

    def exact(self, of_inputs: Callable[[Values], dict[str, Any]], pass_: str, values: Values, batch: Values) -> Any:
        """Returns the module in float64, which can take steps, for parameters, buffers and inputs in float64."""
        optimizer = self.optimizer if pass_ == "train" else None
        return self.form.exact(self.make, of_inputs, self.loss, optimizer, self.labels, values, batch)


def tensors(leaves: Iterable[ModelLeaf]) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """Returns the parameters and the buffers of a model, as drawn by the suite."""
    drawn = {leaf.name: (leaf.trained, leaf.drawn()) for leaf in leaves}
    parameters = {name: tensor for name, (trained, tensor) in drawn.items() if trained}
    return parameters, {name: tensor for name, (trained, tensor) in drawn.items() if not trained}


def as_tree(result: Any, array: type | tuple[type, ...]) -> Any:
    """Returns a model's result as nested dicts of arrays: of a list its places, of a dataclass or named tuple its
    fields, of an object such as a cache its attributes. What isn't an array, like a flag or None, is left out."""
    if isinstance(result, array):
        return result
    if hasattr(result, "_asdict"):
        result = result._asdict()
    if isinstance(result, Mapping):
        branches = list(result.items())
    elif isinstance(result, (tuple, list)):
        branches = list(enumerate(result))
    elif is_dataclass(result):
        branches = [(field.name, getattr(result, field.name)) for field in fields(result)]
    else:
        branches = list(getattr(result, "__dict__", {}).items())
    found = ((str(name), as_tree(branch, array)) for name, branch in branches)
    return {name: branch for name, branch in found if isinstance(branch, array) or branch}


def taken(function: Callable[..., Any], arguments: Values, labels: Sequence[str]) -> dict[str, Any]:
    """Returns the arguments that a module's function takes by name. One that takes any doesn't get the `labels`, which
    are the loss's, unless it names them; of one argument and one parameter the names may differ, as in nn.Sequential,
    whose parameter is called `input`."""
    return chosen(*takes(function), arguments, labels)


def takes(function: Callable[..., Any]) -> tuple[tuple[str, ...], bool]:
    """Returns the names of a function's parameters, and whether it takes others too."""
    known = inspect.signature(function).parameters
    return tuple(known), any(each.kind is each.VAR_KEYWORD for each in known.values())


def chosen(
    known: Sequence[str],
    takes_any: bool,  # as `takes` returns it
    arguments: Values,
    labels: Sequence[str],
) -> dict[str, Any]:
    """Returns those `arguments` that a function with these parameters is given, as `taken` does."""
    named = {name: value for name, value in arguments.items() if name in known or (takes_any and name not in labels)}
    rest = [value for name, value in arguments.items() if name not in labels]
    if not named and len(known) == len(rest) == 1:
        return dict.fromkeys(known, rest[0])
    return named


def kind_of(name: str) -> str:
    """Returns the kind of a module, by the name of its class."""
    return next((kind for kind, pattern in KINDS.items() if re.search(pattern, name.lower())), "other")
