"""The arguments of a question's functions, as its file's `inputs` returns them; and what is right for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, is_dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suite.errors import UserError, at_line, check_known
from suite.workloads import trees
from suite.workloads.questions.functions import REFERENCE
from suite.workloads.questions.loading import loaded
from suite.workloads.tensors import Tensor, generate


def inputs_of(module: ModuleType, path: Path, dims: Mapping[str, int]) -> dict[str, Any]:
    """Returns what `inputs` returns: a dict of arguments. Raises UserError with the line that raised, and for a result
    without tensors."""
    try:
        tree = module.inputs(**dims)
    except UserError as refused:
        raise UserError(f"{at_line(refused, path)}") from None
    except Exception as broken:
        raise UserError(f"`inputs` of {path} failed: {at_line(broken, path)}.") from broken
    if taken := sorted({"self", "target", "outputs"} & {*tree} if isinstance(tree, dict) else ()):
        raise UserError(f"{path}: an input can't be called {taken[0]}: the word has another use. Rename it.")
    if not isinstance(tree, dict) or not tensors_of(tree):
        raise UserError(
            f'{path}: `inputs` returns a dict of tensors by name, like {{"x": normal(rows, columns)}}. They are '
            "made by suite.ask: normal, integers, from_file and others. Arrays aren't: a compiler could fold them."
        )
    if arrays := [name for name, leaf in trees.leaves(tree) if not isinstance(leaf, Tensor) and np.ndim(leaf)]:
        raise UserError(
            f"{path}: the input {arrays[0]} is an array, which compilers would take for a constant. Make it by "
            "suite.ask: normal(…), or from_file(path)."
        )
    return tree


def tensors_of(tree: Any) -> dict[str, Tensor]:
    """Returns the tensors of a tree by their paths, without its plain values."""
    return {name: leaf for name, leaf in trees.leaves(tree) if isinstance(leaf, Tensor)}


@dataclass(frozen=True, slots=True)
class Permuted(Tensor):
    """Another tensor with its axes in another order."""

    source: Tensor
    order: tuple[int, ...]

    def made(self, name: str, seed: int) -> NDArray[Any]:
        return generate(self.source, name, seed).transpose(self.order)


def in_layout(tree: Mapping[str, Any], layout: Mapping[str, str], where: str) -> dict[str, Any]:
    """Returns arguments of which some have the axes in another order: `{"image": "NHWC->NCHW"}`. Raises UserError for
    an order that doesn't fit."""
    named, found = tensors_of(tree), {}
    for name, text in layout.items():
        check_known("tensor", name, named, of=where)
        tensor, (old, _, new) = named[name], text.replace(" ", "").partition("->")
        if sorted(old) != sorted(new) or len({*old}) != len(old) or len(old) != len(tensor.shape):
            raise UserError(
                f"{where} has {text!r} for {name}, which has {len(tensor.shape)} axes: a letter for each, and the same "
                'letters in the order that is wanted, like "NHWC->NCHW".'
            )
        order = tuple(map(old.index, new))
        found[name] = Permuted(tuple(tensor.shape[axis] for axis in order), tensor, order, dtype=tensor.dtype)
    return trees.filled(tree, found) if found else dict(tree)


def returning_trees(function: Callable[..., Any], module: ModuleType) -> Callable[..., Any]:
    """Returns a function whose results are trees: itself, unless its module knows a dataclass, which it may return."""
    kinds = (value for value in vars(module).values() if isinstance(value, type))
    return trees.with_fields(function) if any(map(is_dataclass, kinds)) else function


def scalar(module: Any, outputs: Any, mean_cube: Callable[[Any], Any]) -> Any:
    """Returns what gradients are taken of: the file's `loss`, or the sum of mean |y|^3 of all floating results y. Not
    the mean square: a norm's result always has the same one, so that its gradient would be rounding alone."""
    if hasattr(module, "loss"):
        return module.loss(outputs)
    cubes = [cube for _, leaf in trees.leaves(outputs) if (cube := mean_cube(leaf)) is not None]
    if not cubes:
        raise ValueError("no result is a floating-point one, so there is nothing to take gradients of")
    return sum(cubes)


def mean_cube(x: Any) -> Any:
    """Returns mean |x|^3; None for whole numbers."""
    return np.mean(np.abs(x) ** 3) if np.asarray(x).dtype.kind in "fc" else None


def reference(
    module: ModuleType,
    path: Path,
    right: str,
    dims: Mapping[str, int],
    parameters: Mapping[str, Any],
    /,
    target: Any = None,
    **batch: Any,
) -> dict[str, Any]:
    """Returns what is right: `output`, a tree, and `loss` where there are parameters. The arguments are in float64, and
    whole numbers in int64; those of an implementation that stands for a reference are in their own type, and wrap."""
    tree, values = inputs_of(module, path, dims), {**parameters, **batch}
    judging = loaded(path, (right, "loss"))
    if right != REFERENCE:
        types = {name: tensor.dtype for name, tensor in tensors_of(tree).items()}
        values |= {name: value.astype(types[name]) for name, value in values.items() if value.dtype.kind == "i"}
    with np.errstate(all="ignore"):
        outputs = returning_trees(getattr(judging, right), judging)(**trees.filled(tree, values))
    answer = {"output": outputs}
    if parameters:
        answer["loss"] = scalar(judging, outputs, mean_cube)
    return answer
