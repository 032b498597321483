"""What moves a port apart from the first model in training, though both compute the same."""

from __future__ import annotations

import numpy as np
import pytest

from suite.run.ports import apart_in_statistics, summed

SHAPES = {"wte.weight": (12, 4), "qkv.weight": (12, 4), "one.bias": (4,), "other.bias": (4,)}


@pytest.mark.parametrize(
    ("weights", "apart"),
    [
        ({"wte.embedding": "wte.weight", "head.kernel": "wte.weight.T"}, ["wte.embedding", "head.kernel"]),
        ({"q": "qkv.weight[0:4].T", "k": "qkv.weight[4:8].T", "v": "qkv.weight[8:12].T"}, []),
        ({"q": "qkv.weight[0:4].T", "k": "qkv.weight[3:7].T"}, ["q", "k"]),
        ({"bias": "one.bias + other.bias", "kernel": "wte.weight"}, ["bias"]),
        ({"bias": "0 * one.bias", "kernel": "2 * wte.weight"}, ["bias"]),
        ({"kernel": "wte.weight.T.reshape(2, 2, 12)", "bias": "one.bias"}, []),
    ],
)
def test_leaves_that_share_elements_or_are_sums_move_apart(weights: dict[str, str], apart: list[str]) -> None:
    assert summed(weights, SHAPES) == apart


@pytest.mark.parametrize(("momentum", "is_apart"), [(0.1, False), (0.01, True), (0.9, True)])
def test_another_momentum_of_running_statistics_is_found(momentum: float, is_apart: bool) -> None:
    random = np.random.default_rng(0)
    samples = random.normal(2.0, random.uniform(0.5, 2.0, 6), (20, 6))

    def after(share: float, freedom: int) -> dict[str, np.ndarray]:
        moved = {"mean": share * samples.mean(0), "var": share * (samples.var(0, ddof=freedom) - 1)}
        return {"loss": np.ones(1), "gradients scale": np.ones(6)} | {f"moved bn.{name}": moved[name] for name in moved}

    # PyTorch keeps the variance of the sample, flax that of the batch.
    said = apart_in_statistics(after(0.1, 1), after(momentum, 0), {"bn.mean": "bn.mean", "bn.var": "bn.var"})
    assert bool(said) == is_apart and (not is_apart or f"bn.mean {momentum / 0.1:.3g} times" in said)
