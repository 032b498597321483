"""What moves a port apart from the first model in training, though both compute the same."""

from __future__ import annotations

from typing import Any

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


@pytest.mark.parametrize(
    ("momentum", "channels", "said"),
    [
        (0.1, 6, ""),
        (0.1, 1, ""),  # PyTorch keeps the variance of the sample, flax that of the batch
        (0.01, 6, "0.1 times as far"),
        (0.9, 1, "9 times as far"),
        (0.0, 6, "as it was"),
    ],
)
def test_another_momentum_of_running_statistics_is_found(momentum: float, channels: int, said: str) -> None:
    random = np.random.default_rng(0)
    samples = random.normal(2.0, random.uniform(50.0, 90.0, channels), (20, channels))

    def after(share: float, freedom: int) -> dict[str, np.ndarray[Any, Any]]:
        moved = {"mean": share * samples.mean(0), "var": share * (samples.var(0, ddof=freedom) - 1)}
        return {"loss": np.ones(1)} | {f"moved bn.{name}": moved[name] for name in moved}

    names = ("bn.mean", "bn.var")
    weights, shapes = dict(zip(names, names, strict=True)), dict.fromkeys(names, (channels,))
    assert apart_in_statistics(after(0.1, 1), after(momentum, 0), weights, shapes).find(said) >= 0
    assert bool(apart_in_statistics(after(0.1, 1), after(momentum, 0), weights, shapes)) == bool(said)
    of_another = weights | {"bn.mean": "0 * bn.bias"}  # whose movement isn't a statistic's
    assert not apart_in_statistics(after(0.1, 1), after(momentum, 0), of_another, shapes | {"bn.bias": (channels,)})
