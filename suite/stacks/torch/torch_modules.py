"""The common code of all stacks that run an nn.Module: layouts of weights and images, threads, mixed precision.

PyTorch comes in as an argument: only an adapter's own module imports it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suite.workloads import trees
from suite.workloads.tensors import Tensor

Array = NDArray[Any]
# What PyTorch's optimizers call their moments.
MOMENTS = {"adamw": {"m": "exp_avg", "v": "exp_avg_sq"}, "sgd": {"v": "momentum_buffer"}}


class Layouts:
    """Converts weights between the canonical layout, (inputs, outputs) and HWIO, and PyTorch's: nn.Linear has the
    transpose, nn.Conv2d OIHW."""

    def __init__(self, torch: Any, model: Any) -> None:
        modules = dict(model.named_modules())
        self.dense = {f"{name}.weight" for name, module in modules.items() if isinstance(module, torch.nn.Linear)}
        self.kernels = {f"{name}.weight" for name, module in modules.items() if isinstance(module, torch.nn.Conv2d)}

    def native(self, name: str, value: Array) -> Array:
        """Returns a view of a canonical weight in the module's layout."""
        if name in self.dense:
            return value.T
        return value.transpose(3, 2, 0, 1) if name in self.kernels else value

    def canonical(self, name: str, value: Array) -> Array:
        """Returns a view of a module's weight in canonical layout: the inverse of `native`."""
        if name in self.dense:
            return value.T
        return value.transpose(2, 3, 1, 0) if name in self.kernels else value


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
