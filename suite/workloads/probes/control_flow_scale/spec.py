"""control_flow_scale: how the time to compile grows with a program's depth, and with its shapes.

The probe times the first call of functions of several layers, tanh(x @ w), that share one shape: with a Python loop
over the layers, which a tracer unrolls, and with the framework's own loop, whose body is compiled once. It also times a
function of two layers for inputs of growing batch and sequence. Arrays are small, so that little of a call's time is
computing. Another function is compiled before, because the first compile of a process takes longer. Classes rest on the
number of operations in the traced program, because seconds vary.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

TITLE = "Compile time, by depth and shape"
SIZES = {
    # Not narrower: for a CPU, XLA writes out products of small matrices, which take ten times as long to compile.
    "tiny": {"depth": 16, "width": 64, "batch": 4, "sequence": 16},
    "quick": {"depth": 64, "width": 64, "batch": 4, "sequence": 16},
}
PASSES = ("forward",)

ASPECTS = {
    "unrolled": "a Python loop over the layers",
    "scanned": "the framework's own loop over the layers",
    "batch": "more rows at a time",
    "sequence": "longer rows",
}
FIGURES = {
    "depths": ("count", "layers"),
    "sizes": ("count", "rows in a batch, or positions in a row"),
    "seconds": ("s", "the first call at each depth or size, until its result is computed"),
    "compile_seconds": ("s", "the part of it that the framework itself counts as compiling"),
    "compiles": ("count", "programs compiled in the first call at each depth or size"),
    "operations": ("count", "operations of the traced program, without those inside a loop's body"),
    "factor": ("1", "the seconds at the greatest depth or size, divided by those at the least"),
    "traces": ("count", "traces of a call that raised"),
    "graph_breaks": ("count", "breaks of the graph in a call that raised"),
    "fallback_ops": ("count", "operations that another backend ran in a call that raised"),
}
CLASSES = {
    "grows with depth": "the program has the operations of every layer, each of which is compiled",
    "grows": "the program has more operations for larger arrays",
    "flat": "the program has the same operations whatever the size",
    "interprets": "nothing is compiled: the operations run one by one",
}
GROWS = 2.0  # times the operations, at sixteen times the layers or size or more; a program that doesn't grow has 1
WARM = 2  # layers of the function that is compiled first, and of the functions for growing batch and sequence
TIMES = (2, 8, 32)  # multiples of the least batch and sequence; not 1, since the functions of other depths have these

JAX_SCAN = "https://docs.jax.dev/en/latest/_autosummary/jax.lax.scan.html"
TORCH_XLA_SCAN = "https://pytorch.org/xla/release/r2.6/features/scan.html"
TF_FUNCTION = "https://www.tensorflow.org/guide/function"


def depths(dims: Mapping[str, int]) -> list[int]:
    """Returns the depths: 1, 4, 16 and so on, up to the dim `depth`."""
    return [4**power for power in range(10) if 4**power <= dims["depth"]]


def points(aspect: str, dims: Mapping[str, int]) -> list[tuple[int, int, int]]:
    """Returns (depth, batch, sequence) of each function."""
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
    """Returns the class: if anything was compiled, by the operations at the least and the greatest depth or size."""
    if not sum(figures.get("compiles", ())):
        return "interprets"
    if figures["operations"][-1] < GROWS * figures["operations"][0]:
        return "flat"
    return "grows" if aspect in {"batch", "sequence"} else "grows with depth"


DOCUMENTED = {
    "unrolled": {
        "jax_jit": ("grows with depth", JAX_SCAN),
        "torch_xla": ("grows with depth", TORCH_XLA_SCAN),
        "tf_graph": ("grows with depth", TF_FUNCTION),
    },
    "scanned": {
        "jax_jit": ("flat", JAX_SCAN),
        "torch_xla": ("flat", TORCH_XLA_SCAN),
        "tf_graph": ("flat", TF_FUNCTION),
    },
}
