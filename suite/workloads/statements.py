"""Finds what some names of a Python file need: the statements at its top that define them, and all that these use."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

# Fields with annotations, by the type of node.
ANNOTATIONS = {ast.FunctionDef: ("returns",), ast.AsyncFunctionDef: ("returns",), ast.arg: ("annotation",)}
EVERYWHERE = sys.stdlib_module_names | {"numpy", "suite"}


def parsed(path: Path) -> ast.Module:
    """Returns the syntax tree of a file; a statement that imports several names becomes one for each. Raises
    SyntaxError for a file that isn't Python."""
    tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    tree.body = [each for statement in tree.body for each in separate(statement)]
    return tree


def separate(statement: ast.stmt) -> list[ast.stmt]:
    if isinstance(statement, ast.Import):
        return [ast.copy_location(ast.Import([alias]), statement) for alias in statement.names]
    if isinstance(statement, ast.ImportFrom):
        module, level = statement.module, statement.level
        return [ast.copy_location(ast.ImportFrom(module, [alias], level), statement) for alias in statement.names]
    return [statement]


def needed(tree: ast.Module, names: Iterable[str]) -> list[ast.stmt]:
    """Returns the statements that these names need, in the order of the file, and imports of what every environment
    has. A statement that defines nothing, like a call or a setting of a framework, is among them if all that it uses
    is."""
    defined: dict[str, list[ast.stmt]] = {}
    for statement in tree.body:
        for name in defines(statement):
            defined.setdefault(name, []).append(statement)
    everywhere = (name for name, of in defined.items() for each in of if {*imports(each)} & EVERYWHERE)
    wanted, found = [*names, *everywhere], set[str]()
    while wanted:
        name = wanted.pop()
        if name in defined and name not in found:
            found.add(name)
            wanted += [used for statement in defined[name] for used in uses(statement)]
    kept = {id(statement) for name in found for statement in defined[name]}
    return [
        statement
        for statement in tree.body
        if id(statement) in kept or (not [*defines(statement)] and {*uses(statement)} & defined.keys() <= found)
    ]


def imports(statement: ast.AST) -> Iterator[str]:
    """Yields the packages or modules that a statement imports, by the first part of their names."""
    if isinstance(statement, ast.Import):
        yield from (alias.name.partition(".")[0] for alias in statement.names)
    elif isinstance(statement, ast.ImportFrom) and statement.module and not statement.level:
        yield statement.module.partition(".")[0]


def imports_of(path: Path) -> set[str]:
    """Returns all that a file imports, also inside of functions."""
    return {name for node in ast.walk(parsed(path)) for name in imports(node)}


def defined(tree: ast.Module) -> frozenset[str]:
    """Returns the names at the top of a file."""
    return frozenset(name for statement in tree.body for name in defines(statement))


def defines(statement: ast.stmt) -> Iterator[str]:
    """Yields the names that a statement at the top defines, also inside of `if`, `try`, `for` and `with`."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield statement.name
        return
    if isinstance(statement, ast.Import | ast.ImportFrom):
        yield from ((alias.asname or alias.name).partition(".")[0] for alias in statement.names if alias.name != "*")
    elif isinstance(statement, ast.Name) and isinstance(statement.ctx, ast.Store):
        yield statement.id
    for child in ast.iter_child_nodes(statement):
        yield from defines(child)  # type: ignore[arg-type]  # any node


def uses(statement: ast.AST) -> Iterator[str]:
    """Yields the names that a statement reads. Annotations of functions aren't evaluated, so theirs aren't among
    them."""
    if isinstance(statement, ast.Name) and isinstance(statement.ctx, ast.Load):
        yield statement.id
    for field, value in ast.iter_fields(statement):
        children = value if isinstance(value, list) else [value]
        if field not in ANNOTATIONS.get(type(statement), ()):
            for child in children:
                if isinstance(child, ast.AST):
                    yield from uses(child)
