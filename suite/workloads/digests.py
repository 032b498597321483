"""Digests of code by what it does, not by how it is laid out: comments, blank lines and docstrings don't count. So sets
can tell whether they asked the same question of the same functions."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path

Statements = Mapping[str, ast.stmt]


def of_file(path: Path) -> str:
    """Returns the digest of a whole file."""
    return digest(parsed(path).body)


def of_names(path: Path, names: Iterable[str]) -> str:
    """Returns the digest of a file's statements at its top that define these names, and of all that these use."""
    defined = by_name(parsed(path))
    wanted, found = [*names], dict[str, ast.stmt]()
    while wanted:
        name = wanted.pop()
        if name in defined and name not in found:
            found[name] = defined[name]
            wanted += [node.id for node in ast.walk(defined[name]) if isinstance(node, ast.Name)]
    return digest(found[name] for name in sorted(found))


def parsed(path: Path) -> ast.Module:
    """Returns the syntax tree of a file without its docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:]
    return tree


def by_name(tree: ast.Module) -> Statements:
    """Returns the statements at the top of a file by the names that they define or import."""
    found: dict[str, ast.stmt] = {}
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef | ast.ClassDef):
            found[statement.name] = statement
        elif isinstance(statement, ast.Import | ast.ImportFrom):
            found |= {(alias.asname or alias.name).partition(".")[0]: statement for alias in statement.names}
        else:
            stored = (node for node in ast.walk(statement) if isinstance(node, ast.Name))
            found |= {node.id: statement for node in stored if isinstance(node.ctx, ast.Store)}
    return found


def digest(statements: Iterable[ast.stmt]) -> str:
    return hashlib.sha256("\n".join(map(ast.unparse, statements)).encode()).hexdigest()[:16]
