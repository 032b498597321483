"""The functions' depths and shapes, the calls, and the classes, by counts of operations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

GROWTH = 2.0  # times the operations, at sixteen times the layers or size or more; a program that doesn't grow has 1
WARM = 2  # layers of the function that is compiled first, and of the functions for growing batch and sequence
TIMES = (2, 8, 32)  # multiples of the least batch and sequence; not 1, since the functions of other depths have these


def depths(dims: Mapping[str, int]) -> list[int]:
    """1, 4, 16 and so on, up to the dim `depth`."""
    return [4**power for power in range(10) if 4**power <= dims["depth"]]


def points(aspect: str, dims: Mapping[str, int]) -> list[tuple[int, int, int]]:
    """(depth, batch, sequence) of each function."""
    batch, sequence = dims["batch"], dims["sequence"]
    if aspect == "batch":
        return [(WARM, batch * times, sequence) for times in TIMES]
    if aspect == "sequence":
        return [(WARM, batch, sequence * times) for times in TIMES]
    return [(depth, batch, sequence) for depth in depths(dims)]


def observe(
    stack: Any,
    recorder: Any,
    aspect: str,
    code: Callable[..., Any],
    operations: Callable[..., float] | None = None,
    words: str = "",
    forget: Callable[[], None] = lambda: None,
) -> None:
    """Calls `code`, as the stack runs it, at each point of one aspect, and records the aspect.

    `operations` counts the operations in a function's program for given arguments. `forget` makes the framework forget
    what it has compiled, so that it compiles the same function again for another shape.
    """
    dims = stack.dims
    taken: dict[str, list[float | None]] = {"seconds": [], "compile_seconds": [], "compiles": [], "operations": []}
    for depth, batch, sequence in [(WARM, dims["batch"], dims["sequence"]), *points(aspect, dims)]:
        x = stack.put(np.ones((batch, sequence, dims["width"]), np.float32))
        layers = np.full((depth, dims["width"], dims["width"]), 1 / dims["width"], np.float32)
        arguments = x, stack.put(layers) if aspect == "scanned" else [stack.put(w) for w in layers]
        forget()
        function, before = stack.jit(code), stack.counters()["compile_seconds"]
        seen = recorder.watch(lambda: function(*arguments))  # noqa: B023 called at once
        if seen.error:
            recorder.record(aspect, code, seen)
            return
        taken["seconds"].append(seen.seconds)
        taken["compile_seconds"].append(None if before is None else stack.counters()["compile_seconds"] - before)
        taken["compiles"].append(seen.counted["compiles"])
        taken["operations"].append(operations(code, function, *arguments) if operations else None)
    figures = {name: known(point[1:]) for name, point in taken.items()}
    seconds = figures["seconds"] or []
    sizes = (
        {"sizes": [dims[aspect] * times for times in TIMES]}
        if aspect in {"batch", "sequence"}
        else {"depths": depths(dims)}
    )
    recorder.record(aspect, code, words=words, factor=seconds[-1] / seconds[0], **figures, **sizes)


def known(figures: Sequence[float | None]) -> list[float] | None:
    """Returns the figures; None for what the framework doesn't count."""
    counted = [figure for figure in figures if figure is not None]
    return counted if len(counted) == len(figures) else None


def classify(aspect: str, figures: Mapping[str, Any]) -> str:
    if not sum(figures.get("compiles", ())):
        return "interprets"
    if figures["operations"][-1] < GROWTH * figures["operations"][0]:
        return "flat"
    return "grows" if aspect in {"batch", "sequence"} else "grows with depth"
