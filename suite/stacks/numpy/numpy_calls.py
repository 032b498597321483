"""Records the calls of NumPy's functions, which run NumPy's own loops or its BLAS, by NumPy's protocol for array-likes
(`__array_ufunc__` and `__array_function__`)."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from suite.ir.timeline import Category, Span, by_rules
from suite.stacks.kernels import LibraryUse, summed

BLAS = ("matmul", "vecdot", "matvec", "vecmat")  # functions that NumPy hands to its BLAS, for float32
SYMBOLS = ("scipy_openblas_get_corename64_", "scipy_openblas_get_corename", "openblas_get_corename")

RULES = (
    ("optimizer", Category.OPTIMIZER),
    ("matmul|vecdot|matvec|vecmat|einsum|dot", Category.PRODUCTS),
    (
        "transpose|reshape|concatenate|copyto|take|stack|split|broadcast|swapaxes|pad|repeat|tile|zeros|empty",
        Category.COPIES,
    ),
)

calls: list[tuple[str, float, float]] = []  # (function, begin, end) in seconds; filled in processes that aren't timed


class RecordingArray(np.ndarray[Any, Any]):
    """An array that records the functions called on it; the results of universal functions are such arrays, too."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """Calls a universal function on plain arrays, and records it."""
        out = options.pop("out", None)
        if out is not None:
            options["out"] = tuple(map(plain, out))
        start = perf_counter()
        result = getattr(ufunc, method)(*map(plain, inputs), **options)
        calls.append((ufunc.__name__, start, perf_counter()))
        if out is not None:
            return out[0]
        return result.view(RecordingArray) if isinstance(result, np.ndarray) else result

    def __array_function__(self, function: Any, types: Any, arguments: Any, options: Any) -> Any:
        """Calls any other function, and records it; the universal functions that it calls are recorded, too."""
        return recorded_as(function.__name__, super().__array_function__)(function, types, arguments, options)


# Functions of numpy.linalg that compute what is given in single precision in double precision
# (numpy/linalg/_linalg.py, _commonType).
DOUBLE = frozenset(
    ("cholesky", "det", "eig", "eigh", "eigvals", "eigvalsh", "inv", "lstsq", "qr", "slogdet", "solve", "svd")
)


def watched(call: Callable[[], Any]) -> tuple[Any, list[str]]:
    """Returns what `call` returns, and the functions that computed in double precision what they got in single."""
    wider = set()

    def look(frame: Any, event: str, _: Any) -> None:
        name = frame.f_code.co_name
        if event == "call" and name in DOUBLE and frame.f_globals.get("__name__", "").startswith("numpy.linalg"):
            kinds = {getattr(value, "dtype", None) for value in frame.f_locals.values()}
            if kinds & {np.dtype(np.float32), np.dtype(np.complex64)}:
                wider.add(name)

    sys.setprofile(look)
    try:
        return call(), sorted(wider)
    finally:
        sys.setprofile(None)


def recorded_as(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*arguments: Any, **options: Any) -> Any:
        start = perf_counter()
        result = function(*arguments, **options)
        calls.append((name, start, perf_counter()))
        return result

    return call


def spans() -> list[Span]:
    return [Span("", name, begin, end, by_rules(name, RULES, Category.ELEMENTWISE)) for name, begin, end in calls]


def plain(value: Any) -> Any:
    return value.view(np.ndarray) if isinstance(value, RecordingArray) else value


def recording(tree: Any) -> Any:
    """Returns nested dicts and tuples in which the arrays record their calls; other values are unchanged."""
    if isinstance(tree, dict):
        return {name: recording(value) for name, value in tree.items()}
    if isinstance(tree, tuple):
        return tuple(map(recording, tree))
    return tree.view(RecordingArray) if isinstance(tree, np.ndarray) else tree


def kernels_used() -> list[LibraryUse]:
    """Returns the universal functions called since `calls` was cleared, by library and instruction set, the
    longest-running first."""
    taken: list[tuple[str, str | None, float]] = []
    for name, begin, end in calls:
        if isinstance(getattr(np, name, None), np.ufunc):
            library, isa = ("OpenBLAS", blas_core()) if name in BLAS else ("NumPy", loop_target(name))
            taken.append((library, isa, end - begin))
    return summed(taken)


@cache
def blas_core() -> str | None:
    """Returns the processor whose kernels OpenBLAS has chosen here: `SkylakeX` has AVX-512, `Haswell` AVX2."""
    maps = Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace")
    paths = {line.split()[-1] for line in maps.splitlines() if "openblas" in line}
    for library in map(ctypes.CDLL, sorted(paths)):
        for symbol in SYMBOLS:
            if hasattr(library, symbol):
                core_name = getattr(library, symbol)
                core_name.restype = ctypes.c_char_p
                return str(core_name().decode())
    return None


@cache
def loop_target(name: str) -> str | None:
    """Returns the instruction set of a function's float32 loop by NumPy's name: `X86_V4` has AVX-512, `X86_V3` AVX2."""
    loops = np.lib.introspect.opt_func_info(func_name=f"^{name}$").get(name, {})
    target = next((loop["current"] for types, loop in loops.items() if types.startswith("f")), None)
    return None if target is None else str(target)
