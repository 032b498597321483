"""The text of a question file from functions and arrays of a notebook: the functions' source with all that it uses, and
the arrays as .npy files beside it."""

from __future__ import annotations

import ast
import hashlib
import inspect
import re
import symtable
import sys
import sysconfig
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

DIALECTS = ("numpy", "jax", "torch", "tf", "keras")
BEGINS = tuple(f"{form}_" for form in (*DIALECTS, "numba", "xp"))
PARTS = ("inputs", "parameters", "reference", "canonical", "loss", "TOLERANCE", "NOT_ON", "STATIC", "GROWS")
LIBRARIES = tuple(sysconfig.get_path(kind) for kind in ("stdlib", "purelib", "platlib"))


class Refused(Exception):
    """A question that wasn't measured: the message says why. A notebook shows it without a traceback."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


def written(text: str) -> Path:
    """Writes a question file, which is called by its content. Returns its path."""
    path = Path(f"question_{hashlib.sha256(text.encode()).hexdigest()[:6]}.py").absolute()
    if path.is_file() and path.read_text(encoding="utf-8") != text:
        raise Refused(f"{path} was written for this question, and changed since. Ask the file: ask({path.name!r}).")
    path.write_text(text, encoding="utf-8")
    return path


def question(functions: Sequence[tuple[str, Any]], inputs: Mapping[str, Any]) -> str:
    """Returns the text of the question file of functions, each with its dialect, or "" if its name begins with one.
    Raises Refused for what can't be sent."""
    if not inputs:
        raise Refused(
            'The functions\' inputs are lacking: ask(jax_f, torch_f, inputs={"x": x}), named as they take them.'
        )
    used: dict[str, tuple[Any, str]] = {}
    asked: list[str] = []
    wrappers: dict[str, str] = {}
    for dialect, function in functions:
        plain = inspect.unwrap(function) if callable(function) else function
        name = getattr(plain, "__name__", "")
        if not name:
            raise Refused(f"{function!r} is no function.")
        add(name, function, used, "the question")
        if not dialect and not name.startswith(BEGINS) and name not in PARTS:
            raise Refused(f"{name} is in no framework by its name: call it jax_{name}, say, or give it as jax={name}.")
        if dialect and not name.startswith(f"{dialect}_"):
            # A question calls its functions by their arguments' names, which those of a library may not have.
            given = (f"{each}={each}" if isinstance(plain, FunctionType) else each for each in inputs)
            of, name = name, f"{dialect}_{name}"
            wrappers[name] = f"def {name}({', '.join(inputs)}):\n    return {of}({', '.join(given)})"
        if name in asked:
            raise Refused(f"Two functions would be called {name}: rename one.")
        asked.append(name)
    for name in used:
        if name in wrappers or (name not in asked and (name.startswith(BEGINS) or name in PARTS)):
            raise Refused(f"{name}, which the functions use, has a name that means something in a question: rename it.")
    values = ", ".join(f'"{name}": {value_of(value, name)}' for name, value in inputs.items())
    texts = [text for _, text in used.values()]
    imports = [text for text in texts if text.startswith(("import ", "from "))]
    rest = [
        f"def inputs():\n    return {{{values}}}",
        *(text for text in texts if text not in imports),
        *wrappers.values(),
    ]
    heads = [f'"""{" or ".join(asked)}?"""', *imports, "from suite.ask import from_file"]
    return "\n".join(heads) + "".join(f"\n\n\n{text}" for text in rest) + "\n"


def add(name: str, value: Any, used: dict[str, tuple[Any, str]], whose: str) -> None:
    """Adds the text that gives a name its value in another process, after all that it needs: an import, the source of a
    function, or a plain value. Raises Refused for other values."""
    if name in used:
        if used[name][0] is not value:
            raise Refused(f"The functions use two things called {name}: rename one.")
        return
    module = value if isinstance(value, ModuleType) else sys.modules.get(getattr(value, "__module__", None) or "")
    called = getattr(value, "__name__", "")
    by_import = module is not None and is_installed(module)
    if module is value and not by_import:
        raise Refused(f"{whose} uses {name}, a file of your own, and a question is one file: write its functions here.")
    if module is value or (by_import and getattr(module, called, None) is value):
        begin = f"import {called}" if module is value else f"from {value.__module__} import {called}"
        used[name] = value, begin if name == called else f"{begin} as {name}"
    elif is_plain(value):
        used[name] = value, f"{name} = {value!r}"
    elif callable(value):
        function, text, names = source(value, name)
        used[name] = value, ""  # it may use itself
        for other in names:
            if other in function.__globals__:
                add(other, function.__globals__[other], used, name)
        alias = "" if name == function.__name__ else f"\n\n\n{name} = {function.__name__}"
        del used[name]  # it comes after what it uses
        used[name] = value, text + alias
    else:
        what = (
            "an array: make it one of the inputs"
            if hasattr(value, "shape")
            else (f"a {type(value).__name__}, which can't be written into a file: make it in the function")
        )
        raise Refused(f"{whose} uses {name}, {what}.")


def is_installed(module: ModuleType) -> bool:
    """Whether a module is Python's or a package's, so that another process has it, too."""
    file = getattr(module, "__file__", None)
    return file.startswith(LIBRARIES) if file else module.__name__ != "__main__"


def source(value: Any, name: str) -> tuple[FunctionType, str, list[str]]:
    """Returns a function without its decorators, its source, and the global names in that. Raises Refused for one
    without source, and for one whose source isn't all that it does."""
    function = inspect.unwrap(value)
    if not isinstance(function, FunctionType):
        raise Refused(
            f"{name} is a {type(value).__name__}, not a function with source: write a function that calls it."
        )
    if function.__name__ == "<lambda>":
        raise Refused("A lambda's source can't be told from the line around it: write it as a function, with def.")
    if function.__closure__:
        of = ", ".join(function.__code__.co_freevars)
        raise Refused(f"{name} uses {of} of the function around it: give it as an argument, in inputs={{...}}.")
    try:
        text = textwrap.dedent(inspect.getsource(function)).strip()
        tree = ast.parse(text).body[0]
    except (OSError, SyntaxError):
        raise Refused(f"{name} has no source that can be read: write it in a cell or a file.") from None
    layers, layer = 0, value
    while layer is not function:
        layers, layer = layers + 1, layer.__wrapped__
    if not isinstance(tree, ast.FunctionDef) or layers > len(tree.decorator_list):
        raise Refused(f"{name} is more than its source, as jax.vmap(f) is: write a function that calls it.")
    return function, text, sorted(set(global_names(symtable.symtable(text, name, "exec"))) - {function.__name__})


def global_names(table: symtable.SymbolTable) -> Iterator[str]:
    outside = table.get_type() == "module"
    yield from (s.get_name() for s in table.get_symbols() if s.is_referenced() and (outside or s.is_global()))
    for inner in table.get_children():
        yield from global_names(inner)


def is_plain(value: Any) -> bool:
    """Whether a value's text gives it back."""
    try:
        return bool(type(value).__module__ == "builtins" and ast.literal_eval(repr(value)) == value)
    except (ValueError, SyntaxError):
        return False


def value_of(value: Any, name: str) -> str:
    """Returns the text that gives an input in a question file. Arrays are written into .npy files, called by their
    content. Raises Refused for what is neither array nor plain value."""
    if isinstance(value, dict):
        entries = (f"{key!r}: {value_of(each, f'{name}_{key}')}" for key, each in value.items())
        return f"{{{', '.join(entries)}}}"
    if is_plain(value):
        return repr(value)
    if isinstance(value, list | tuple):
        parts = "".join(f"{value_of(each, f'{name}_{place}')}, " for place, each in enumerate(value))
        return f"[{parts}]" if isinstance(value, list) else f"({parts})"
    if not hasattr(value, "dtype"):
        raise Refused(
            f"{name} is a {type(value).__name__}: an input is an array, a plain value, or a dict or list of them."
        )
    import numpy as np

    as_bfloat16 = "bfloat16" in str(value.dtype)
    if hasattr(value, "detach"):  # PyTorch's
        value = value.detach().cpu().float() if as_bfloat16 else value.detach().cpu()
    array = np.asarray(value)
    array = array.astype("float32") if as_bfloat16 else array
    if array.dtype.kind not in "biufc":
        raise Refused(f"{name} has the type {array.dtype}, and not one of numbers.")
    digest = hashlib.sha256(f"{array.dtype}{array.shape}".encode() + array.tobytes()).hexdigest()[:6]
    file = f"{re.sub(r'[^A-Za-z0-9_]', '_', name)}_{digest}.npy"
    np.save(file, array, allow_pickle=False)
    return f'from_file("{file}", dtype="bfloat16")' if as_bfloat16 else f'from_file("{file}")'
