"""Loads a question file in part: for some of its names only what these need. So a file may import every framework at
its top, and build models there, though each environment has one framework.

A process that measures one revision of a repository has the variable TREE: the repository's folder, then the folders of
the revision's modules. These come before what is installed, and in place of those in the repository itself."""

from __future__ import annotations
import __future__

import ast
import os
import sys
from collections.abc import Iterable
from functools import lru_cache
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType

from suite.errors import UserError, at_line
from suite.workloads.statements import EVERYWHERE, imports, imports_of, needed, parsed

TREE = "STACKWARS_TREE"


def loaded(path: Path, names: Iterable[str]) -> ModuleType:
    """Returns a module with these names of a file, where it has them. Raises UserError with the line that fails."""
    return part(path, path.stat().st_mtime_ns, tuple(sorted(names)))


@lru_cache(maxsize=64)
def part(path: Path, changed: int, names: tuple[str, ...]) -> ModuleType:
    folder = str(path.parent)
    for place in os.environ.get(TREE, "").split(os.pathsep)[1:]:
        if place not in sys.path:  # after the standard library, since a repository may have a file of any name
            installed = (n for n, known in enumerate(sys.path) if known.endswith("-packages"))
            sys.path.insert(next(installed, len(sys.path)), place)
    if folder not in sys.path and not is_tested(path.parent):
        sys.path.append(folder)  # last, since a question may be called like a package
    module = ModuleType(f"loaded_{path.stem}_{abs(hash((path, names)))}")
    module.__file__ = str(path)
    sys.modules[module.__name__] = module  # where pickle, dataclasses and decorators look
    try:
        beside(path)  # refuses a module that would not be imported
        tree = parsed(path)
        chosen = ast.Module(needed(tree, names), type_ignores=[])
        # Annotations aren't evaluated: they may name a framework that isn't here.
        code = compile(chosen, str(path), "exec", flags=__future__.annotations.compiler_flag, dont_inherit=True)
        exec(code, vars(module))  # what is measured is somebody's code
    except Exception as broken:
        del sys.modules[module.__name__]
        if isinstance(broken, UserError):
            raise
        raise UserError(f"{path} can't be loaded: {at_line(broken, path)}.{advice(broken, names)}") from broken
    return module


def is_tested(folder: Path) -> bool:
    """Whether the modules in a question's folder belong to the package whose revisions are measured, so that they come
    from the revision's tree alone. Modules beside a question elsewhere are part of the question: today's in each."""
    root = os.environ.get(TREE, "").partition(os.pathsep)[0]
    return bool(root) and (folder in (Path(root), Path(root, "src")) or (folder / "__init__.py").is_file())


def advice(broken: Exception, names: Iterable[str]) -> str:
    """Returns what helps where a module isn't installed that these names of a file need."""
    if not isinstance(broken, ModuleNotFoundError) or not broken.name:
        return ""
    if "inputs" in names:
        return (
            " `inputs`, `parameters` and `canonical` run without a framework: tensors are made by suite.ask, like "
            "normal(rows, columns). What functions need may be imported at the top, but not used by these three."
        )
    package = broken.name.partition(".")[0]
    named = f'# dependencies = ["{package}"]'
    return f" The environment has no {package}. A file names its packages at the top, like {named}: docs/how-to/ask.md."


def imported(path: Path, names: Iterable[str]) -> frozenset[str]:
    """Returns the packages that these names of a file need, also inside of functions and by the modules beside it."""
    own: dict[str, list[Path]] = {}  # the modules beside it, by what imports them
    for file in beside(path):
        own.setdefault(file.relative_to(path.parent).parts[0].removesuffix(".py"), []).append(file)
    found: set[str] = set()
    statements = needed(parsed(path), names)
    while statements:
        new = {name for node in ast.walk(ast.Module(statements, [])) for name in imports(node)} - found
        found |= new
        statements = [statement for name in new for file in own.get(name, ()) for statement in parsed(file).body]
    return frozenset(found - own.keys() - EVERYWHERE)


def beside(path: Path) -> list[Path]:
    """Returns the files of the modules and packages in a file's own folder that it imports, directly or by one another.
    Raises SyntaxError for one that isn't Python."""
    found: list[Path] = []
    waiting = [] if is_tested(path.parent) else [path]
    while waiting:
        for name in sorted(imports_of(waiting.pop()) - {"suite"}):
            package, module = path.parent / name, path.parent / f"{name}.py"
            files = [*sorted(package.rglob("*.py")), *([module] if module.is_file() else [])]
            new = [file for file in files if file != path and file not in found]
            if new:
                check_clash(name, path)
            found += new
            waiting += new
    return found


def check_clash(name: str, path: Path) -> None:
    """Raises UserError for a module beside a file that would not be imported, since one of its name is installed."""
    if TREE in os.environ:
        return  # what is installed is a revision of it
    elsewhere = [folder for folder in sys.path if folder != str(path.parent)]
    if name in sys.stdlib_module_names or PathFinder.find_spec(name, elsewhere) is not None:
        raise UserError(
            f"{path.parent / name} has the name of an installed package, which would be imported instead: rename it."
        )


def may_judge(right: str, path: Path) -> bool:
    """Whether a function can say what is right: not where revisions of the code that it imports are compared."""
    return not (TREE in os.environ and right and imported(path, (right,)))
