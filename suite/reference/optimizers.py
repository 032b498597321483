"""The optimizers in float64, as the equivalence gate and the golden files hold every stack to them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from suite import protocol

Tensors = Mapping[str, NDArray[np.float64]]


class AdamW:
    """p (1 - lr wd) - lr/c1 m / (sqrt(v/c2) + eps), c the bias corrections 1 - beta^count."""

    moments = 2  # kept for each parameter

    def __init__(self, parameters: Tensors) -> None:
        self.parameters: dict[str, NDArray[np.float64]] = {k: np.array(v, np.float64) for k, v in parameters.items()}
        self.m = {name: np.zeros_like(p) for name, p in self.parameters.items()}
        self.v = {name: np.zeros_like(p) for name, p in self.parameters.items()}
        self.count = 0

    def step(self, gradients: Tensors) -> None:
        """One update of every parameter."""
        self.count += 1
        c1, c2 = 1.0 - protocol.BETA1**self.count, 1.0 - protocol.BETA2**self.count
        for name, p in self.parameters.items():
            g = gradients[name]
            self.m[name] = protocol.BETA1 * self.m[name] + (1.0 - protocol.BETA1) * g
            self.v[name] = protocol.BETA2 * self.v[name] + (1.0 - protocol.BETA2) * g * g
            update = self.m[name] / c1 / (np.sqrt(self.v[name] / c2) + protocol.EPSILON)
            decayed = p * (1.0 - protocol.LEARNING_RATE * protocol.WEIGHT_DECAY)
            self.parameters[name] = decayed - protocol.LEARNING_RATE * update


class Momentum:
    """SGD with momentum: v = momentum v + g; p -= lr v."""

    moments = 1

    def __init__(self, parameters: Tensors) -> None:
        self.parameters: dict[str, NDArray[np.float64]] = {k: np.array(v, np.float64) for k, v in parameters.items()}
        self.v = {name: np.zeros_like(p) for name, p in self.parameters.items()}

    def step(self, gradients: Tensors) -> None:
        """One update of every parameter."""
        for name, p in self.parameters.items():
            self.v[name] = protocol.MOMENTUM * self.v[name] + gradients[name]
            self.parameters[name] = p - protocol.LEARNING_RATE * self.v[name]


OPTIMIZERS: dict[str, type[AdamW] | type[Momentum]] = {"adamw": AdamW, "sgd": Momentum}
