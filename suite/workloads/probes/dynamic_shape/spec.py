"""dynamic_shape: shapes that only the values tell, and inputs of many lengths.

Each function is called once, and then with inputs that have other counts, or other lengths: what the framework
compiles meanwhile, where it breaks its graph or lets another backend run an operation, and whether the answers are
right. The remedies are the frameworks' own; their cost is a call's time beside that of a program for one length alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

TITLE = "Shapes that depend on values"
SIZES = {"tiny": {"n": 64, "calls": 5}, "quick": {"n": 5000, "calls": 20}}
PASSES = ("forward",)

ASPECTS = {
    "mask": "a boolean mask picks values: x[x > 0]",
    "where": "the same without a shape that depends on values: where(x > 0, x, 0)",
    "nonzero": "the places of the positive values",
    "size": "the same in an array of a size given beforehand",
    "slice": "the first k values, k on the device: x[:k]",
    "lengths": "one function, inputs of many lengths",
    "remedy": "the same with the framework's own remedy",
}
FIGURES = {
    "seconds": ("s", "each call but the first, until its result is in the host's memory"),
    "first_seconds": ("s", "the first call, likewise"),
    "again_seconds": ("s", "calls as the first one, once it is compiled, until the result is computed"),
    "factor": ("1", "such a call with the remedy, by one of the function compiled for this length alone; medians"),
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
    "recompiles once or twice": "one or two more programs serve all the other calls",
    "recompiles": "other calls compile more programs, fewer than there are calls",
    "recompiles each time": "each call of another shape compiles again",
    "breaks the graph": "the graph ends there: Python runs the operation between two programs",
    "left to Python": "the tracer gives the function up: Python runs it, nothing is compiled",
    "falls back": "another backend than the stack's own runs the operation",
    "interprets": "nothing is ever compiled, so any shape will do",
    "wrong": "an answer isn't NumPy's",
}
AGAIN = 20  # samples
# TensorFlow counts traces, but not what XLA compiles of one trace, for each length of a slice. If even the quickest of
# the other calls takes so many times a compiled call, each has compiled: it takes hundreds of times, without compiling
# at most three times (the result's way to the host).
COMPILES = 30
FILL = -1  # where there are fewer places than the size that was given

JAX_ERRORS = "https://docs.jax.dev/en/latest/errors.html"
JAX_CONTROL_FLOW = "https://docs.jax.dev/en/latest/control-flow.html"
JAX_NONZERO = "https://docs.jax.dev/en/latest/_autosummary/jax.numpy.nonzero.html"
TORCH_RECOMPILATION = (
    "https://docs.pytorch.org/docs/2.12/user_guide/torch_compiler/compile/programming_model.recompilation.html"
)
TORCH_XLA_RECOMPILATION = "https://docs.pytorch.org/xla/release/r2.8/perf/recompilation.html"
TF_FUNCTION = "https://www.tensorflow.org/guide/function"
THE_PRIMER = "https://sineeli.github.io/2025/12/20/jax-series-1"


def inputs(aspect: str, dims: Mapping[str, int]) -> list[list[Any]]:
    """The arguments of each call. Sums of the values are exact in float32, in whichever order. No two lengths lie on
    both sides of 4096, where Inductor sums in another way, with another program."""
    n, counts = dims["n"], [dims["n"] // 2 + call for call in range(dims["calls"])]
    values = np.arange(1, n + 1, dtype=np.float32)
    if aspect == "slice":
        return [[values, np.array(count, np.int32)] for count in counts]
    if aspect == "lengths":
        return [[np.ones(n + call * (n // dims["calls"]), np.float32)] for call in range(dims["calls"])]
    return [[np.where(values <= count, values, -values).astype(np.float32)] for count in counts]


def padded(dims: Mapping[str, int]) -> list[list[Any]]:
    """The inputs of many lengths, each as long as the longest, with its own length."""
    values = [call[0] for call in inputs("lengths", dims)]
    return [[np.pad(x, (0, len(values[-1]) - len(x))), np.array(len(x), np.int32)] for x in values]


def answers(aspect: str, dims: Mapping[str, int]) -> list[Any]:
    """What NumPy says."""
    calls = inputs(aspect, dims)
    if aspect == "slice":
        return [x[:k].sum() for x, k in calls]
    if aspect == "lengths":
        return [(x * x).sum() for (x,) in calls]
    if aspect == "nonzero":
        return [np.flatnonzero(x > 0) for (x,) in calls]
    if aspect == "size":
        places = [np.flatnonzero(x > 0) for (x,) in calls]
        return [np.pad(found, (0, dims["n"] - len(found)), constant_values=FILL) for found in places]
    return [x[x > 0].sum() for (x,) in calls]


def ask(
    stack: Any,
    recorder: Any,
    aspect: str,
    code: Callable[..., Any],
    function: Callable[..., Any] | None = None,
    calls: Sequence[Sequence[Any]] = (),
    beside: float = 0.0,
    count: Callable[[], Mapping[str, float]] = dict,
) -> float:
    """Tells one aspect; the seconds of a call that is compiled, 0 where something was raised. `beside` are those of
    the function without the remedy; `count` are counters of the framework's that the stack hasn't got."""
    function = function or stack.jit(code)
    placed = [[stack.put(value) for value in call] for call in calls or inputs(aspect, stack.dims)]
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
        return 0.0
    again = recorder.seconds(lambda: function(*placed[0]), AGAIN)
    rest = recorder.watch(others)
    if rest.error:
        recorder.tell(aspect, code, rest)
        return 0.0
    expected = answers("lengths" if aspect == "remedy" else aspect, stack.dims)
    right = [
        np.array_equal(np.ravel(got), np.ravel(answer))
        for got, answer in zip([first.value, *rest.value], expected, strict=True)
    ]
    figures = {name: together(first.counted[name], rest.counted[name]) for name in ("graph_breaks", "fallback_ops")}
    figures |= {name: after - before[name] for name, after in count().items()}
    figures |= {
        "first_seconds": first.seconds,
        "first_compiles": first.counted["compiles"],
        "calls": len(right),
        "right": sum(right),
        "factor": median(again) / beside if beside else None,
    }
    recorder.tell(aspect, code, rest, seconds=seconds, again_seconds=again, **figures)
    return float(median(again))


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
    if figures["compiles"] >= figures["calls"] - 1:
        return "recompiles each time"
    return "recompiles once or twice" if figures["compiles"] <= 2 else "recompiles"


DOCUMENTED = {
    "mask": {"jax_jit": ("raises: NonConcreteBooleanIndexError", JAX_ERRORS)},
    "where": {"jax_jit": ("one program", JAX_ERRORS)},
    "nonzero": {"jax_jit": ("raises: ConcretizationTypeError", JAX_ERRORS)},
    "size": {"jax_jit": ("one program", JAX_NONZERO)},
    "lengths": {
        "jax_jit": ("recompiles each time", JAX_CONTROL_FLOW),
        "torch_inductor": ("recompiles once or twice", TORCH_RECOMPILATION),
        "torch_xla": ("recompiles each time", TORCH_XLA_RECOMPILATION),
        "tf_graph": ("recompiles each time", TF_FUNCTION),
    },
    "remedy": {"torch_inductor": ("one program", TORCH_RECOMPILATION), "tf_graph": ("one program", TF_FUNCTION)},
}
PRIMER = {"mask": {"jax_jit": ("raises: NonConcreteBooleanIndexError", THE_PRIMER)}}
