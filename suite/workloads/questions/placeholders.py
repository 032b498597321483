"""Stands in for frameworks that an environment lacks, so that a question file may import all of its frameworks at the
top. A placeholder may be called, subclassed and used as a decorator, but it has no values."""

from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

FRAMEWORKS = frozenset({"jax", "jaxlib", "torch", "torch_xla", "torchax", "tensorflow", "keras", "optax", "flax"})


class Placeholder:
    """Anything of a framework that isn't in this environment."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Placeholder(f"{self._path}.{name}")

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """As a decorator it returns the function; called otherwise, another placeholder."""
        decorates = len(arguments) == 1 and isinstance(arguments[0], FunctionType | type)
        return arguments[0] if decorates else Placeholder(f"{self._path}()")

    def other(self, *operands: Any) -> Any:
        """Returns another placeholder: for annotations like `torch.Tensor | None` and constants like `jnp.pi / 2`."""
        return Placeholder(f"{self._path}…")

    __or__ = __ror__ = __getitem__ = __neg__ = __pow__ = other
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = other

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        return ()

    def __array__(self, *arguments: Any, **named: Any) -> Any:
        raise TypeError(f"{self._path} was called, and this environment has no {self._path.partition('.')[0]}")


class PlaceholderModule(ModuleType):
    """A framework, or a module of one, that isn't in this environment."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Placeholder(f"{self.__name__}.{name}")


@dataclass(frozen=True, slots=True)
class Finder(MetaPathFinder, Loader):
    """Finds the frameworks of these names, which aren't in this environment, as placeholders."""

    missing: frozenset[str]

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        return ModuleSpec(name, self, is_package=True) if name.partition(".")[0] in self.missing else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return PlaceholderModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Does nothing: there is no code."""


@contextmanager
def placeholders(path: Path) -> Iterator[None]:
    """Lets a file's imports of missing frameworks succeed inside the `with` block; afterwards they are missing as
    before. Frameworks that are there are imported first: they look for others themselves, and must not find a
    placeholder."""
    missing = frozenset(name for name in imported_by(path) & FRAMEWORKS if not is_there(name))
    finder = Finder(missing)
    sys.meta_path.append(finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        for name in [name for name, module in sys.modules.items() if isinstance(module, PlaceholderModule)]:
            del sys.modules[name]


def imported_by(path: Path) -> set[str]:
    """Returns the packages that a file imports at its top. Raises SyntaxError for a file that isn't Python."""
    names: set[str] = set()
    for statement in ast.parse(path.read_text(encoding="utf-8"), str(path)).body:
        if isinstance(statement, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in statement.names}
        elif isinstance(statement, ast.ImportFrom) and statement.module:
            names.add(statement.module.partition(".")[0])
    return names


def is_there(name: str) -> bool:
    """Whether a framework can be imported; it is, then."""
    try:
        importlib.import_module(name)
    except ModuleNotFoundError:
        return False
    return True
