"""traced_shape: a value on the device, taken as a shape.

An array of zeros whose length is on the device, with another length in each call, and a reshape whose shape is
computed by the framework; then the same with Python's own numbers, as a static argument or from `x.shape`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

TITLE = "Shapes from traced values"
SIZES = {"tiny": {"n": 64, "calls": 3}, "quick": {"n": 4096, "calls": 5}}
PASSES = ("forward",)

ASPECTS = {
    "zeros": "zeros, as many as a value on the device says",
    "static": "the remedy: as many as a static argument says",
    "reshape": "a reshape to a product that the framework computes",
    "python": "the remedy: Python computes the product of x.shape",
}
FIGURES = {
    "seconds": ("s", "each call but the first, until its result is in the host's memory"),
    "first_seconds": ("s", "the first call, likewise"),
    "again_seconds": ("s", "calls as the first one, once it is compiled, until the result is computed"),
    "calls": ("count", "calls in all"),
    "right": ("count", "calls with the right answer"),
    "first_compiles": ("count", "programs compiled in the first call"),
    "traces": ("count", "traces in all calls but the first"),
    "compiles": ("count", "programs compiled in all calls but the first"),
    "graph_breaks": ("count", "breaks of the graph in all calls"),
    "fallback_ops": ("count", "operations that another backend ran in all calls"),
    "skipped": ("count", "functions that the tracer gave up"),
}
CLASSES = {
    "one program": "what was compiled for the first call serves all the others",
    "recompiles": "other values compile more programs, fewer than there are calls",
    "recompiles each time": "each value has a program of its own",
    "breaks the graph": "the graph ends there: Python reads the value between two programs",
    "left to Python": "the tracer gives the function up: Python runs it, nothing is compiled",
    "falls back": "another backend than the stack's own runs an operation",
    "interprets": "nothing is ever compiled: the value is read in each call",
    "wrong": "an answer isn't NumPy's",
}

AGAIN = 20  # samples
# TensorFlow counts traces, but not what XLA compiles of one trace, for each value that is a shape. If even the quickest
# of the other calls takes so many times a compiled call, each has compiled: it takes hundreds of times, without
# compiling at most three times (the result's way to the host).
COMPILES = 30

JAX_JIT = "https://docs.jax.dev/en/latest/jit-compilation.html"
TF_FUNCTION = "https://www.tensorflow.org/guide/function"
THE_PRIMER = "https://sineeli.github.io/2025/12/20/jax-series-1"


def calls(aspect: str, dims: Mapping[str, int]) -> list[list[Any]]:
    """The arguments of each call; a number is to be a static argument. No length comes twice in the process."""
    n = dims["n"]
    lengths = [n // 2 + call + (dims["calls"] if aspect == "static" else 0) for call in range(dims["calls"])]
    if aspect in {"zeros", "static"}:
        like = np.zeros(n, np.float32)
        return [[like, length if aspect == "static" else np.array(length, np.int32)] for length in lengths]
    return [[np.full((2, n), length, np.float32)] for length in lengths]


def ask(
    stack: Any, recorder: Any, aspect: str, code: Callable[..., Any], count: Callable[[], Mapping[str, float]] = dict
) -> None:
    """Tells one aspect. `count` are counters of the framework's that the stack hasn't got."""
    asked = calls(aspect, stack.dims)
    answers = [
        x.ravel() if aspect in {"reshape", "python"} else x[:length]
        for x, length in (call if len(call) > 1 else (*call, 0) for call in asked)
    ]
    placed = [[stack.put(each) if isinstance(each, np.ndarray) else each for each in call] for call in asked]
    function = stack.jit(code, static=(1,) if aspect == "static" else ())
    seconds: list[float] = []

    def others() -> list[Any]:
        results = []
        for call in placed[1:]:
            start = perf_counter()
            results.append(stack.fetch(function(*call)))
            seconds.append(perf_counter() - start)
        return results

    before = count()
    first = recorder.watch(lambda: stack.fetch(function(*placed[0])))
    if first.error:
        recorder.tell(aspect, code, first)
        return
    again = recorder.seconds(lambda: function(*placed[0]), AGAIN)
    rest = recorder.watch(others)
    if rest.error:
        recorder.tell(aspect, code, rest)
        return
    right = [np.array_equal(got, answer) for got, answer in zip([first.value, *rest.value], answers, strict=True)]
    figures = {name: together(first.counted[name], rest.counted[name]) for name in ("graph_breaks", "fallback_ops")}
    figures |= {name: after - before[name] for name, after in count().items()}
    figures |= {
        "first_seconds": first.seconds,
        "first_compiles": first.counted["compiles"],
        "calls": len(right),
        "right": sum(right),
    }
    recorder.tell(aspect, code, rest, seconds=seconds, again_seconds=again, **figures)


def together(first: float | None, rest: float | None) -> float | None:
    """A count of all calls; None where the framework doesn't count."""
    return None if first is None or rest is None else first + rest


def classify(aspect: str, figures: Mapping[str, Any]) -> str:
    """By counts alone."""
    if figures["right"] < figures["calls"]:
        return "wrong"
    if figures.get("graph_breaks"):
        return "breaks the graph"
    if figures.get("skipped"):
        return "left to Python"
    if figures.get("fallback_ops"):
        return "falls back"
    if "compiles" not in figures:
        return "interprets"
    if figures["compiles"] == 0:
        unseen = min(figures["seconds"]) > COMPILES * median(figures["again_seconds"])
        return "recompiles each time" if unseen else "one program"
    return "recompiles each time" if figures["compiles"] >= figures["calls"] - 1 else "recompiles"


DOCUMENTED = {
    "static": {"jax_jit": ("recompiles each time", JAX_JIT), "tf_graph": ("recompiles each time", TF_FUNCTION)}
}
PRIMER = {"reshape": {"jax_jit": ("raises: TypeError", THE_PRIMER)}}
