"""traced_shape: a value on the device, used as a shape.

The probe makes an array of zeros whose length is on the device, another length in each call, and reshapes an array to a
shape that the framework computes; then it does the same with Python numbers, from a static argument or from `x.shape`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from suite.workloads.probes import calls

TITLE = "Shapes from traced values"
SIZES = {"tiny": {"n": 64, "calls": 3}, "quick": {"n": 4096, "calls": 5}}
PASSES = ("forward",)

ASPECTS = {
    "zeros": "zeros, as many as a value on the device says",
    "static": "the remedy: as many as a static argument says",
    "reshape": "a reshape to a product that the framework computes",
    "python": "the remedy: Python computes the product of x.shape",
}
FIGURES = calls.FIGURES
CLASSES = {
    "one program": "what was compiled for the first call serves all the others",
    "recompiles": "other values compile more programs, fewer than there are calls",
    "recompiles each time": "each value has a program of its own",
    "breaks the graph": "the graph ends there: Python reads the value between two programs",
    "left to Python": "the tracer gives up on the function: Python runs it, nothing is compiled",
    "falls back": "another backend than the stack's own runs an operation",
    "interprets": "nothing is ever compiled: the value is read in each call",
    "wrong": "an answer isn't NumPy's",
}

JAX_JIT = "https://docs.jax.dev/en/latest/jit-compilation.html"
TF_FUNCTION = "https://www.tensorflow.org/guide/function"
THE_PRIMER = "https://sineeli.github.io/2025/12/20/jax-series-1"


def inputs(aspect: str, dims: Mapping[str, int]) -> list[list[Any]]:
    """Returns the arguments of each call; a number is a static argument. No length is used twice in a process."""
    n = dims["n"]
    lengths = [n // 2 + call + (dims["calls"] if aspect == "static" else 0) for call in range(dims["calls"])]
    if aspect in {"zeros", "static"}:
        like = np.zeros(n, np.float32)
        return [[like, length if aspect == "static" else np.array(length, np.int32)] for length in lengths]
    return [[np.full((2, n), length, np.float32)] for length in lengths]


def answers(aspect: str, dims: Mapping[str, int]) -> list[Any]:
    """Returns the right answers, by NumPy."""
    arguments = inputs(aspect, dims)
    if aspect in {"zeros", "static"}:
        return [like[:length] for like, length in arguments]
    return [x.ravel() for (x,) in arguments]


def observe(recorder: Any, aspect: str, code: Callable[..., Any]) -> None:
    """Observes one aspect and records it."""
    dims, function = recorder.stack.dims, recorder.stack.jit(code, static=(1,) if aspect == "static" else ())
    calls.observe(recorder, aspect, code, function, inputs(aspect, dims), answers(aspect, dims))


def reshaped_by_python(x: Any) -> Any:
    """Returns x as one axis, whose length Python computes."""
    return x.reshape(math.prod(x.shape))


def classify(aspect: str, figures: Mapping[str, Any]) -> str:
    """Returns the class, as `calls.classify` does."""
    return calls.classify(figures)


DOCUMENTED = {
    "static": {"jax_jit": ("recompiles each time", JAX_JIT), "tf_graph": ("recompiles each time", TF_FUNCTION)}
}
PRIMER = {"reshape": {"jax_jit": ("raises: TypeError", THE_PRIMER)}}
