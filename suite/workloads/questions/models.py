"""A model of a question file: a module that its function `torch_model` returns. Its weights are the suite's own, so
that all stacks have the same ones, whatever their versions."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import Any

from suite.workloads.tensors import Normal, Tensor

MODELS = ("torch",)  # dialects
SPREAD = 0.05  # of a parameter that is the same everywhere in a new module: a weight of a norm, a bias


@dataclass(frozen=True, slots=True)
class ModelForm:
    """A module: `form` is its dialect's module in dialects/, `make` the file's function, and gradients are taken of
    `loss`."""

    form: ModuleType
    make: Callable[[], Any]
    loss: Callable[..., Any]

    def code(self, of_inputs: Callable[[Mapping[str, Any]], dict[str, Any]]) -> Any:
        return self.form.code(self.make, of_inputs, self.loss)

    def reference(self, of_inputs: Callable[[Mapping[str, Any]], dict[str, Any]], *, train: bool) -> Any:
        return partial(self.form.reference, self.make, of_inputs, self.loss, train)

    def parameters(self) -> dict[str, Tensor]:
        """Returns the parameters in canonical layout. Those that are drawn in a new module get N(0, 1/fan in); those
        that are one constant get small deviations from it, so that a norm or a bias that is left out is seen."""
        found: dict[str, Tensor] = {}
        for name, (shape, dtype, constant) in self.form.parameters(self.make).items():
            fan_in = math.prod(shape[:-1]) if len(shape) > 2 else max(shape, default=1)
            sigma = SPREAD if constant is not None or len(shape) < 2 else 1 / math.sqrt(fan_in)
            found[name] = Normal(shape, sigma, constant or 0.0, fine=True, dtype=dtype)
        return found
