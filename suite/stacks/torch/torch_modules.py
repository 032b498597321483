"""The common code of all stacks that run an nn.Module: layouts of weights and images, threads, mixed precision.

PyTorch comes in as an argument: only an adapter's own module imports it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suite.workloads import trees
from suite.workloads.tensors import Tensor

Array = NDArray[Any]
# What PyTorch's optimizers call their moments.
MOMENTS = {"adamw": {"m": "exp_avg", "v": "exp_avg_sq"}, "sgd": {"v": "momentum_buffer"}}
COUNTER = "num_batches_tracked"  # of a batch norm: part of no result
# What a file has that takes derivatives inside its step.
DERIVATIVE = re.compile(
    r"\b(autograd\.(grad|functional)|enable_grad|func\.(grad|vjp|jvp|jac|hess|linearize)|backward\()"
)


class Layouts:
    """Converts weights between the canonical layout, (inputs, outputs) and HWIO, and PyTorch's: nn.Linear and the
    weights of nn.LSTM and its kin have the transpose, nn.Conv2d OIHW."""

    def __init__(self, torch: Any, model: Any) -> None:
        modules = dict(model.named_modules())
        self.dense = {f"{name}.weight" for name, module in modules.items() if isinstance(module, torch.nn.Linear)}
        self.dense |= {
            f"{name}.{weight}" if name else weight
            for name, module in modules.items()
            if isinstance(module, torch.nn.RNNBase)
            for weight, value in module.named_parameters()
            if value.ndim == 2
        }
        self.kernels = {f"{name}.weight" for name, module in modules.items() if isinstance(module, torch.nn.Conv2d)}

    def native(self, name: str, value: Array) -> Array:
        if name in self.dense:
            return value.T
        return value.transpose(3, 2, 0, 1) if name in self.kernels else value

    def canonical(self, name: str, value: Array) -> Array:
        """Returns a view of a module's weight in canonical layout: the inverse of `native`."""
        if name in self.dense:
            return value.T
        return value.transpose(2, 3, 1, 0) if name in self.kernels else value


def check(torch: Any, model: Any, layouts: Layouts, spec: Mapping[str, Tensor], state: Mapping[str, Tensor]) -> None:
    """Raises ValueError unless a model on `meta` has the parameters of its spec and no others, its `state` among the
    buffers, all in the spec's shapes, and no plain tensors."""
    parameters, buffers = dict(model.named_parameters()), dict(model.named_buffers())
    for kind, wanted, found in (("parameters", spec, parameters), ("buffers", state, buffers)):
        if lacking := [name for name in wanted if name not in found]:
            raise ValueError(f"the spec's {kind} have {lacking[0]}, the model's are {', '.join(found) or 'none'}")
    if further := [name for name in parameters if name not in spec]:
        raise ValueError(f"the model has a parameter {further[0]}, the spec's are {', '.join(spec) or 'none'}")
    for name, tensor in {**spec, **state}.items():
        has = tuple((parameters | buffers)[name].shape)
        if layouts.native(name, np.broadcast_to(np.empty(()), tensor.shape)).shape != has:
            raise ValueError(
                f"{name} is {tensor.shape} in the spec and {has} in the model. In the spec, weights of nn.Linear and "
                "nn.LSTM are (inputs, outputs), those of nn.Conv2d (height, width, inputs, outputs), and all others "
                "as in the model."
            )
    registered = {id(value) for value in (parameters | buffers).values()}  # nn.LSTM also has a list of its weights
    for path, module in model.named_modules():
        held = {name: value for name, value in vars(module).items() if name not in ("_parameters", "_buffers")}
        for name, value in trees.leaves(held):
            if torch.is_tensor(value) and id(value) not in registered:
                attribute = f"{path}.{name}" if path else name
                raise ValueError(
                    f"{attribute} is a plain tensor of the model, which doesn't go to a device with it: "
                    f'self.register_buffer("{name}", …, persistent=False) does.'
                )


def constants(model: Any, make: Callable[[], Any], state: Mapping[str, Tensor]) -> dict[str, Any]:
    """Returns the values of a model's buffers that its spec doesn't fill, by name: masks, tables. The model on `meta`
    has no values; if it has such a buffer, `make` makes another that has."""
    own = [name for name, _ in model.named_buffers() if name not in state and not name.endswith(COUNTER)]
    made = dict(make().named_buffers()) if own else {}
    return {name: made[name] for name in own}


def narrow(dtype: Any) -> str:
    """Returns NumPy's name of one of PyTorch's types, with 32 bits for 64, as JAX has it."""
    return str(dtype).removeprefix("torch.").replace("64", "32")


def tied(model: Any) -> list[list[str]]:
    """Returns the names of parameters that are one tensor: a language model's embedding and its last layer, often."""
    by_tensor: dict[int, list[str]] = {}
    for name, value in model.named_parameters(remove_duplicate=False):
        by_tensor.setdefault(id(value), []).append(name)
    return [names for names in by_tensor.values() if len(names) > 1]


def tie(model: Any, tied: list[list[str]]) -> None:
    """Makes parameters one tensor again: a move to another kind of device makes several of it."""
    for first, *others in tied:
        value = model.get_parameter(first)
        for name in others:
            path, _, leaf = name.rpartition(".")
            setattr(model.get_submodule(path), leaf, value)


def set_buffer(model: Any, name: str, value: Any) -> None:
    path, _, leaf = name.rpartition(".")
    setattr(model.get_submodule(path), leaf, value)


def takes_derivatives(dialect: Any) -> bool:
    """Whether a dialect file takes derivatives inside its step, which inference mode doesn't allow."""
    file = getattr(dialect, "__file__", None)
    return bool(file and DERIVATIVE.search(Path(file).read_text(encoding="utf-8")))


def refuse_recording(output: Any) -> None:
    """Raises ValueError for results of a question's forward pass that have recorded how to take their gradients, since
    no other framework does that in a forward pass."""
    if any(getattr(leaf, "requires_grad", False) for _, leaf in trees.leaves(output)):
        raise ValueError(
            "its result has recorded a graph for gradients, by parameters of a module: write @torch.no_grad() above it"
        )


def native(tensor: Tensor, value: Array) -> Array:
    """Returns an input in PyTorch's layout: images (B, H, W, C) become (B, C, H, W)."""
    return np.ascontiguousarray(value.transpose(0, 3, 1, 2)) if tensor.images else value


def set_threads(torch: Any, threads: int) -> None:
    """Sets PyTorch's thread pools: one operation at a time, on all cores of the case."""
    torch.set_num_threads(threads)
    if torch.get_num_interop_threads() != 1:  # PyTorch takes this setting once in a process
        torch.set_num_interop_threads(1)


def in_precision(function: Any, precision: str, autocast: Callable[[], Any]) -> Any:
    """Returns the function in a precision; bf16 is autocast, PyTorch's own mixed precision, with a float32 result."""
    if precision != "bf16":
        return function

    def mixed(*arguments: Any, **named: Any) -> Any:
        with autocast():
            result = function(*arguments, **named)
        return trees.mapped(lambda leaf: leaf.float() if leaf.is_floating_point() else leaf, result)

    return mixed
