"""value_branch: an `if` on a tensor's value.

Each function is called with a value that takes one branch, then with a value that takes the other: does one program
serve both, or does the framework break its graph, wait for the value, or raise? `factor` is the cost of branching: a
call's time, divided by that of a function that consists only of the branch taken.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from statistics import median
from typing import Any

import numpy as np

from suite.workloads.probes import calls

TITLE = "Branches on a value"
SIZES = {"tiny": {"n": 64}, "quick": {"n": 4096}}
PASSES = ("forward",)

ASPECTS = {
    "python_if": "Python's if on a tensor's value",
    "static": "Python's if on a static argument",
    "remedy": "the framework's own branch",
}
FIGURES = {
    "seconds": ("s", "calls that take the first branch, compiled before"),
    "plain_seconds": ("s", "calls of a function that consists only of this branch, compiled before"),
    "factor": ("1", "the former divided by the latter; medians"),
    "first_seconds": ("s", "the first call, which takes the first branch"),
    "other_seconds": ("s", "the second call, which takes the other branch"),
    "right": ("count", "right answers of the two"),
    "first_compiles": ("count", "programs compiled in the first call"),
    "traces": ("count", "traces in the second call"),
    "compiles": ("count", "programs compiled in the second call"),
    "graph_breaks": ("count", "breaks of the graph in both calls"),
    "fallback_ops": ("count", "operations that another backend ran in both calls"),
    "skipped": ("count", "functions that the tracer gave up on"),
    "reads": ("count", "values that Python waited for in both calls"),
}
CLASSES = {
    "one program": "both branches are in one program, which tests the value as it runs",
    "a program per branch": "each branch has a program of its own, compiled when it is first taken",
    "waits for the value": "Python waits until the value is computed, then a program of one branch runs",
    "breaks the graph": "the graph ends at the if: Python takes the branch between two programs",
    "left to Python": "the tracer gives up on the function: Python runs it, nothing is compiled",
    "interprets": "the function is never compiled: Python takes the branch in each call",
    "wrong": "an answer isn't NumPy's",
}

JAX_CONTROL_FLOW = "https://docs.jax.dev/en/latest/control-flow.html"
JAX_JIT = "https://docs.jax.dev/en/latest/jit-compilation.html"
JAX_COND = "https://docs.jax.dev/en/latest/_autosummary/jax.lax.cond.html"
TORCH_BREAKS = (
    "https://docs.pytorch.org/docs/2.12/user_guide/torch_compiler/compile/programming_model.common_graph_breaks.html"
)
TORCH_XLA_RECOMPILATION = "https://docs.pytorch.org/xla/release/r2.8/perf/recompilation.html"
TF_FUNCTION = "https://www.tensorflow.org/guide/function"
THE_PRIMER = "https://sineeli.github.io/2025/12/20/jax-series-1"


def python_if(x: Any) -> Any:
    """Takes a branch by the values of an array."""
    if x.sum() > 0:
        return x * 2
    return x - 1


def static_if(x: Any, double: bool) -> Any:
    """Takes a branch by a Python value."""
    if double:
        return x * 2
    return x - 1


def doubled(x: Any) -> Any:
    """Returns twice each value: the branch for positive values."""
    return x * 2


def lessened(x: Any) -> Any:
    """Returns each value less 1: the branch for other values."""
    return x - 1


def observe(recorder: Any, aspect: str, code: Callable[..., Any], words: str = "") -> None:
    """Observes one aspect and records it."""
    stack, static = recorder.stack, aspect == "static"
    up = np.ones(stack.dims["n"], np.float32)
    function = stack.jit(code, static=(1,) if static else ())
    up_arguments, down_arguments = ([stack.put(x), *([x is up] if static else [])] for x in (up, -up))
    before = stack.probe_counters()
    first = recorder.watch(lambda: stack.fetch(function(*up_arguments)))
    second = first if first.error else recorder.watch(lambda: stack.fetch(function(*down_arguments)))
    if second.error:
        recorder.record(aspect, code, second)
        return
    counts = calls.counted_in_all(recorder, before, first, second)
    plain = stack.jit(doubled)
    plain(up_arguments[0])
    seconds = recorder.seconds(lambda: function(*up_arguments), calls.AGAIN)
    plain_seconds = recorder.seconds(lambda: plain(up_arguments[0]), calls.AGAIN)
    answers = (first.value, up * 2), (second.value, -up - 1)
    figures = counts | {
        "seconds": seconds,
        "plain_seconds": plain_seconds,
        "factor": median(seconds) / median(plain_seconds),
        "first_seconds": first.seconds,
        "other_seconds": second.seconds,
        "first_compiles": first.counted["compiles"],
        "right": sum(np.array_equal(*pair) for pair in answers),
    }
    recorder.record(aspect, code, second, words, **figures)


def classify(aspect: str, figures: Mapping[str, Any]) -> str:
    """Returns the class, by counts alone."""
    if figures["right"] < 2:
        return "wrong"
    if figures.get("graph_breaks"):
        return "breaks the graph"
    if figures.get("skipped"):
        return "left to Python"
    if figures.get("reads"):
        return "waits for the value"
    if figures.get("first_compiles", 0) + figures.get("compiles", 0) == 0:
        return "interprets"
    return "one program" if figures["compiles"] == 0 else "a program per branch"


DOCUMENTED = {
    "python_if": {
        "jax_jit": ("raises: TracerBoolConversionError", JAX_CONTROL_FLOW),
        "torch_inductor": ("breaks the graph", TORCH_BREAKS),
        "torch_xla": ("waits for the value", TORCH_XLA_RECOMPILATION),
        "tf_graph": ("one program", TF_FUNCTION),
    },
    "static": {"jax_jit": ("a program per branch", JAX_JIT), "tf_graph": ("a program per branch", TF_FUNCTION)},
    "remedy": {
        "jax_jit": ("one program", JAX_COND),
        "torch_inductor": ("one program", TORCH_BREAKS),
        "tf_graph": ("one program", TF_FUNCTION),
    },
}
PRIMER = {
    "python_if": {"jax_jit": ("raises: TracerBoolConversionError", THE_PRIMER)},
    "static": {"jax_jit": ("a program per branch", THE_PRIMER)},
}
