"""Trees of arrays: tuples, lists and dicts, in any depth. A leaf's name is its path, `0` or `weights/up`; that of a
tree that is one leaf is empty. Standard library only."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any


def with_fields(function: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a function whose results have dicts of their fields in place of dataclasses, which no framework takes for
    a tree."""

    def plain(tree: Any) -> Any:
        if is_dataclass(tree) and not isinstance(tree, Mapping):
            return {field.name: plain(getattr(tree, field.name)) for field in fields(tree)}
        if isinstance(tree, Mapping):
            return {name: plain(branch) for name, branch in tree.items()}
        if isinstance(tree, (tuple, list)):
            branches = [plain(branch) for branch in tree]
            return tuple(branches) if isinstance(tree, tuple) else branches
        return tree

    def call(**arguments: Any) -> Any:
        return plain(function(**arguments))

    return call


def leaves(tree: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yields (name, leaf) in order. None is no leaf, as in JAX."""
    if isinstance(tree, Mapping):
        branches = [*tree.items()]
    elif isinstance(tree, (tuple, list)):
        branches = [*enumerate(tree)]
    else:
        if tree is not None:
            yield path, tree
        return
    for name, branch in branches:
        yield from leaves(branch, f"{path}/{name}" if path else str(name))


def mapped(function: Callable[[Any], Any], tree: Any) -> Any:
    """Returns the tree with the function of each leaf in its place; tuples with names become plain ones."""
    if isinstance(tree, Mapping):
        return {name: mapped(function, branch) for name, branch in tree.items()}
    if isinstance(tree, (tuple, list)):
        branches = [mapped(function, branch) for branch in tree]
        return tuple(branches) if isinstance(tree, tuple) else branches
    return None if tree is None else function(tree)


def filled(tree: Any, named: Mapping[str, Any], path: str = "") -> Any:
    """Returns the tree with those leaves replaced that `named` has a value for, by their names."""
    if isinstance(tree, Mapping):
        return {name: filled(branch, named, f"{path}/{name}" if path else str(name)) for name, branch in tree.items()}
    if isinstance(tree, (tuple, list)):
        branches = [
            filled(branch, named, f"{path}/{place}" if path else str(place)) for place, branch in enumerate(tree)
        ]
        return tuple(branches) if isinstance(tree, tuple) else branches
    return named.get(path, tree)
