"""Which of its loops NumPy runs, and how often it calls its BLAS: counted by NumPy's own protocol for array-likes."""

from __future__ import annotations

import ctypes
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from suite.ir.timeline import Category, Span, by_rules
from suite.stacks.kernels import Used

BLAS = ("matmul", "vecdot", "matvec", "vecmat")  # what NumPy hands to its BLAS, float32 that is
SYMBOLS = ("scipy_openblas_get_corename64_", "scipy_openblas_get_corename", "openblas_get_corename")

RULES = (
    ("adamw", Category.OPTIMIZER),
    ("matmul|vecdot|matvec|vecmat|einsum|dot", Category.PRODUCTS),
    (
        "transpose|reshape|concatenate|copyto|take|stack|split|broadcast|swapaxes|pad|repeat|tile|zeros|empty",
        Category.COPIES,
    ),
)

calls: list[tuple[str, float, float]] = []  # (function, begin, end) in seconds, of a process that is never timed


class Counted(np.ndarray[Any, Any]):
    """An array whose universal functions are counted on their way; results are of this kind again."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """One call, on plain arrays."""
        out = options.pop("out", None)
        if out is not None:
            options["out"] = tuple(map(bare, out))
        start = perf_counter()
        result = getattr(ufunc, method)(*map(bare, inputs), **options)
        calls.append((ufunc.__name__, start, perf_counter()))
        if out is not None:
            return out[0]
        return result.view(Counted) if isinstance(result, np.ndarray) else result

    def __array_function__(self, function: Any, types: Any, arguments: Any, options: Any) -> Any:
        """Functions that are no universal ones; those that they call are counted, too."""
        return noted(function.__name__, super().__array_function__)(function, types, arguments, options)


def noted(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A function whose calls are kept under this name."""

    def call(*arguments: Any, **options: Any) -> Any:
        start = perf_counter()
        result = function(*arguments, **options)
        calls.append((name, start, perf_counter()))
        return result

    return call


def spans() -> list[Span]:
    """What was called since `calls` was cleared, with categories."""
    return [Span("", name, begin, end, by_rules(name, RULES, Category.ELEMENTWISE)) for name, begin, end in calls]


def bare(value: Any) -> Any:
    """An array without the counting."""
    return value.view(np.ndarray) if isinstance(value, Counted) else value


def counted(tree: Any) -> Any:
    """The arrays of nested dicts and tuples as counted ones; whatever else there is stays."""
    if isinstance(tree, dict):
        return {name: counted(value) for name, value in tree.items()}
    if isinstance(tree, tuple):
        return tuple(map(counted, tree))
    return tree.view(Counted) if isinstance(tree, np.ndarray) else tree


def kernels_used() -> list[Used]:
    """What was called since `calls` was cleared, by library and instruction set, the longest first."""
    seconds: dict[str, list[float]] = defaultdict(list)
    for name, begin, end in calls:
        if isinstance(getattr(np, name, None), np.ufunc):
            seconds[name].append(end - begin)
    taken: dict[tuple[str, str | None], list[float]] = defaultdict(list)
    for name, durations in seconds.items():
        place = ("OpenBLAS", blas_core()) if name in BLAS else ("NumPy", loop_target(name))
        taken[place] += durations
    used = [Used(library, isa, len(each), sum(each)) for (library, isa), each in taken.items()]
    return sorted(used, key=lambda each: -(each.seconds or 0.0))


def blas_core() -> str | None:
    """The processor whose kernels OpenBLAS has chosen here, by its own word: `SkylakeX` has AVX-512, `Haswell` AVX2."""
    maps = Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace")
    paths = {line.split()[-1] for line in maps.splitlines() if "openblas" in line}
    for library in map(ctypes.CDLL, sorted(paths)):
        for symbol in SYMBOLS:
            if hasattr(library, symbol):
                tell = getattr(library, symbol)
                tell.restype = ctypes.c_char_p
                return str(tell().decode())
    return None


def loop_target(name: str) -> str | None:
    """The instruction set of a function's float32 loop, as NumPy says it: `X86_V4` has AVX-512, `X86_V3` AVX2."""
    loops = np.lib.introspect.opt_func_info(func_name=f"^{name}$").get(name, {})
    found = next((loop["current"] for types, loop in loops.items() if types.startswith("f")), None)
    return None if found is None else str(found)
