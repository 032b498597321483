"""The optimizers of the reference, in float64. The equivalence gate compares each stack's optimizer with them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from suite import protocol

Tensors = Mapping[str, NDArray[np.float64]]


class Optimizer:
    """Parameters and their moments, keyed `m/<name>` and `v/<name>`, after `count` steps."""

    betas: ClassVar[Mapping[str, float]]  # for each moment, its decay factor per step

    def __init__(self, parameters: Tensors, moments: Tensors | None = None, count: int = 0) -> None:
        """Begins with the given parameters and `moments`, as after `count` steps. Without `moments` they are zero."""
        self.parameters: dict[str, NDArray[np.float64]] = {k: np.array(v, np.float64) for k, v in parameters.items()}
        self.moments = {
            f"{kind}/{name}": np.zeros_like(p) if moments is None else np.array(moments[f"{kind}/{name}"], np.float64)
            for name, p in self.parameters.items()
            for kind in self.betas
        }
        self.count = count

    def decay_and_add(self, kind: str, name: str, value: NDArray[np.float64]) -> NDArray[np.float64]:
        moment: NDArray[np.float64] = self.betas[kind] * self.moments[f"{kind}/{name}"] + value
        self.moments[f"{kind}/{name}"] = moment
        return moment

    def step(self, gradients: Tensors) -> None:
        self.count += 1
        for name in self.parameters:
            self.update(name, gradients[name])

    def update(self, name: str, g: NDArray[np.float64]) -> None:
        """Updates one parameter and its moments by its gradient `g`."""
        raise NotImplementedError


class AdamW(Optimizer):
    """p (1 - lr wd) - lr/c1 m / (sqrt(v/c2) + eps), where c1, c2 are the bias corrections 1 - beta^count."""

    betas: ClassVar[Mapping[str, float]] = {"m": protocol.BETA1, "v": protocol.BETA2}

    def update(self, name: str, g: NDArray[np.float64]) -> None:
        c1, c2 = 1.0 - protocol.BETA1**self.count, 1.0 - protocol.BETA2**self.count
        m = self.decay_and_add("m", name, (1.0 - protocol.BETA1) * g)
        v = self.decay_and_add("v", name, (1.0 - protocol.BETA2) * g * g)
        decayed = self.parameters[name] * (1.0 - protocol.LEARNING_RATE * protocol.WEIGHT_DECAY)
        self.parameters[name] = decayed - protocol.LEARNING_RATE * m / c1 / (np.sqrt(v / c2) + protocol.EPSILON)


class KerasAdamW(AdamW):
    """Keras's AdamW, which adds epsilon before the bias correction: p (1 - lr wd) - lr sqrt(c2)/c1 m / (sqrt(v) + eps).

    Source: `Adam.update_step` of Keras 3.15.1 (keras/src/optimizers/adam.py), whose documentation calls this epsilon
    the "epsilon hat" of Kingma & Ba 2015 (arXiv:1412.6980, just before section 2.1).
    """

    def update(self, name: str, g: NDArray[np.float64]) -> None:
        c1, c2 = 1.0 - protocol.BETA1**self.count, 1.0 - protocol.BETA2**self.count
        m = self.decay_and_add("m", name, (1.0 - protocol.BETA1) * g)
        v = self.decay_and_add("v", name, (1.0 - protocol.BETA2) * g * g)
        decayed = self.parameters[name] * (1.0 - protocol.LEARNING_RATE * protocol.WEIGHT_DECAY)
        step = protocol.LEARNING_RATE * np.sqrt(c2) / c1
        self.parameters[name] = decayed - step * m / (np.sqrt(v) + protocol.EPSILON)


class Momentum(Optimizer):
    """SGD with momentum: v = momentum v + g; p -= lr v."""

    betas: ClassVar[Mapping[str, float]] = {"v": protocol.MOMENTUM}

    def update(self, name: str, g: NDArray[np.float64]) -> None:
        self.parameters[name] = self.parameters[name] - protocol.LEARNING_RATE * self.decay_and_add("v", name, g)


OPTIMIZERS: dict[str, type[Optimizer]] = {"adamw": AdamW, "keras_adamw": KerasAdamW, "sgd": Momentum}
