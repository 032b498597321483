"""dynamic_shape: shapes that depend on values, and inputs of many lengths.

Each function is called once, and then with inputs that have other counts of positive values, or other lengths. The
probe records what the framework compiles meanwhile, where it breaks its graph or lets another backend run an operation,
and whether the answers are right. The remedies are the frameworks' own; their cost is a call's time, divided by that of
a call of a program for one length alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from suite.workloads.probes import calls

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
FIGURES = calls.FIGURES | {
    "factor": ("1", "a repeated call with the remedy, divided by one of a program for this length alone; medians")
}
CLASSES = {
    "one program": "what was compiled for the first call serves all the others",
    "recompiles once or twice": "one or two more programs serve all the other calls",
    "recompiles": "other calls compile more programs, fewer than there are calls",
    "recompiles each time": "each call of another shape compiles again",
    "breaks the graph": "the graph ends there: Python runs the operation between two programs",
    "left to Python": "the tracer gives up on the function: Python runs it, nothing is compiled",
    "falls back": "another backend than the stack's own runs the operation",
    "interprets": "nothing is ever compiled, so any shape will do",
    "wrong": "an answer isn't NumPy's",
}
FILL = -1  # fills the array if there are fewer places than its size

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
    """Returns the arguments of each call. Sums of the values are exact in float32, in any order. All lengths of a size
    lie on the same side of 4096, because Inductor sums longer arrays in another way, by another program."""
    n, counts = dims["n"], [dims["n"] // 2 + call for call in range(dims["calls"])]
    values = np.arange(1, n + 1, dtype=np.float32)
    if aspect == "slice":
        return [[values, np.array(count, np.int32)] for count in counts]
    if aspect == "lengths":
        return [[np.ones(n + call * (n // dims["calls"]), np.float32)] for call in range(dims["calls"])]
    return [[np.where(values <= count, values, -values).astype(np.float32)] for count in counts]


def padded(dims: Mapping[str, int]) -> list[list[Any]]:
    """Returns the inputs of many lengths, each padded to the longest, with its real length."""
    values = [call[0] for call in inputs("lengths", dims)]
    return [[np.pad(x, (0, len(values[-1]) - len(x))), np.array(len(x), np.int32)] for x in values]


def answers(aspect: str, dims: Mapping[str, int]) -> list[Any]:
    """Returns the right answers, by NumPy."""
    arguments = inputs(aspect, dims)
    if aspect == "slice":
        return [x[:k].sum() for x, k in arguments]
    if aspect == "lengths":
        return [(x * x).sum() for (x,) in arguments]
    if aspect == "nonzero":
        return [np.flatnonzero(x > 0) for (x,) in arguments]
    if aspect == "size":
        places = [np.flatnonzero(x > 0) for (x,) in arguments]
        return [np.pad(place, (0, dims["n"] - len(place)), constant_values=FILL) for place in places]
    return [x[x > 0].sum() for (x,) in arguments]


def observe(
    recorder: Any,
    aspect: str,
    code: Callable[..., Any],
    function: Callable[..., Any] | None = None,
    given: Sequence[Sequence[Any]] = (),
    beside: float = 0.0,
) -> float:
    """Observes one aspect and records it. Returns the seconds of a compiled call; 0 if something was raised.

    `function` is `code` compiled in another way than by the stack's `jit`; `given` replaces the aspect's inputs;
    `beside` is the seconds of a call without the remedy.
    """
    stack = recorder.stack
    expected = answers("lengths" if aspect == "remedy" else aspect, stack.dims)
    function = function or stack.jit(code)
    return calls.observe(
        recorder, aspect, code, function, given or inputs(aspect, stack.dims), expected, same_values, beside
    )


def same_values(result: Any, answer: Any) -> bool:
    """Whether both hold the same values in the same order: frameworks give lists of places different shapes."""
    return np.array_equal(np.ravel(result), np.ravel(answer))


def classify(aspect: str, figures: Mapping[str, Any]) -> str:
    """Returns the class, as `calls.classify` does, but distinguishes one or two compiles from more."""
    class_ = calls.classify(figures)
    return "recompiles once or twice" if class_ == "recompiles" and figures["compiles"] <= 2 else class_


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
