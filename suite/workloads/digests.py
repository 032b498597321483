"""Digests of code by what it does, not by how it is laid out: comments, blank lines and docstrings don't count. So sets
can tell whether they asked the same question of the same functions."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable
from pathlib import Path

from suite.workloads.statements import needed, parsed


def of_file(path: Path) -> str:
    """Returns the digest of a whole file."""
    return digest(undocumented(path).body)


def of_names(path: Path, names: Iterable[str], beside: Iterable[Path] = ()) -> str:
    """Returns the digest of the statements of a file that these names need, and of whole files beside it."""
    return digest([*needed(undocumented(path), names), *(each for file in beside for each in undocumented(file).body)])


def undocumented(path: Path) -> ast.Module:
    """Returns the syntax tree of a file without its docstrings."""
    tree = parsed(path)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:]
    return tree


def digest(statements: Iterable[ast.stmt]) -> str:
    return hashlib.sha256("\n".join(map(ast.unparse, statements)).encode()).hexdigest()[:16]
