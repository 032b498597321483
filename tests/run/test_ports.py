"""Which leaves of a port an optimizer moves apart from the first model's, though both compute the same."""

from __future__ import annotations

import pytest

from suite.run.ports import summed

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
