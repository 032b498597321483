"""Trees of results: the names of leaves, and what replaces them."""

from __future__ import annotations

from collections import namedtuple

from suite.workloads.trees import filled, leaves, mapped

Pair = namedtuple("Pair", "values order")


def test_leaves_have_their_paths() -> None:
    assert dict(leaves(7)) == {"": 7}
    assert dict(leaves({"a": [1, 2], "b": {"c": 3}})) == {"a/0": 1, "a/1": 2, "b/c": 3}
    assert dict(leaves(Pair(1, (2, None)))) == {"0": 1, "1/0": 2}, "None is no leaf"


def test_a_tree_keeps_its_form() -> None:
    tree = {"a": [1, 2], "b": (3,)}
    assert mapped(lambda leaf: leaf * 10, tree) == {"a": [10, 20], "b": (30,)}
    assert filled(tree, {"a/1": 7, "b/0": 8}) == {"a": [1, 7], "b": (8,)}
