"""The optimizers that every stack is held to, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from suite import protocol
from suite.reference.optimizers import OPTIMIZERS, AdamW, KerasAdamW, Momentum


def test_momentum_by_hand() -> None:
    optimizer = Momentum({"p": np.array([1.0])})
    for _ in range(2):
        optimizer.step({"p": np.array([1.0])})
    assert optimizer.parameters["p"][0] == pytest.approx(1.0 - 1e-3 * (1.0 + 1.9))


def test_adamw_by_hand() -> None:
    optimizer = AdamW({"p": np.array([2.0])})
    optimizer.step({"p": np.array([0.5])})
    # The first step's corrected moments are g and g squared, so that the update is lr g / (|g| + eps).
    assert optimizer.parameters["p"][0] == pytest.approx(2.0 * (1 - 1e-3 * 0.01) - 1e-3 * 0.5 / (0.5 + 1e-8), rel=1e-14)


def test_keras_s_adamw_by_hand() -> None:
    optimizer = KerasAdamW({"p": np.array([2.0])})
    optimizer.step({"p": np.array([1e-6])})
    # v is (1 - beta2) g squared, and epsilon is added to its root before the correction by (1 - beta2)**0.5.
    root = 1e-3**0.5
    step = 1e-3 * root * 1e-6 / (root * 1e-6 + 1e-8)
    assert optimizer.parameters["p"][0] == pytest.approx(2.0 * (1 - 1e-3 * 0.01) - step, rel=1e-14)
    assert step == pytest.approx(0.76e-3, rel=0.01), "PyTorch's and the paper's is 0.99e-3"


def test_every_optimizer_of_the_protocol_has_a_reference_with_its_moments() -> None:
    assert {name: tuple(optimizer.betas) for name, optimizer in OPTIMIZERS.items()} == {
        **protocol.MOMENTS,
        "keras_adamw": protocol.MOMENTS["adamw"],
    }
