"""The calls' inputs and right answers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from suite.workloads.probes import calls

FIGURES = calls.FIGURES


def inputs(aspect: str, dims: Mapping[str, int]) -> list[list[Any]]:
    """The arguments of each call; a number is a static argument. No length is used twice in a process."""
    n = dims["n"]
    lengths = [n // 2 + call + (dims["calls"] if aspect == "static" else 0) for call in range(dims["calls"])]
    if aspect in {"zeros", "static"}:
        like = np.zeros(n, np.float32)
        return [[like, length if aspect == "static" else np.array(length, np.int32)] for length in lengths]
    return [[np.full((2, n), length, np.float32)] for length in lengths]


def answers(aspect: str, dims: Mapping[str, int]) -> list[Any]:
    arguments = inputs(aspect, dims)
    if aspect in {"zeros", "static"}:
        return [like[:length] for like, length in arguments]
    return [x.ravel() for (x,) in arguments]


def reshaped_by_python(x: Any) -> Any:
    return x.reshape(math.prod(x.shape))


def observe(
    recorder: Any,
    zeros: Callable[..., Any],
    reshaped: Callable[..., Any],
    by_python: Callable[..., Any] = reshaped_by_python,
    forget: Callable[[], None] = lambda: None,
) -> None:
    """Observes and records every aspect. `forget` is called before lengths that are static arguments."""
    stack, dims = recorder.stack, recorder.stack.dims
    for aspect, code in {"zeros": zeros, "static": zeros, "reshape": reshaped, "python": by_python}.items():
        if aspect == "static":
            forget()
        function = stack.jit(code, static=(1,) if aspect == "static" else ())
        calls.observe(recorder, aspect, code, function, inputs(aspect, dims), answers(aspect, dims))


def classify(aspect: str, figures: Mapping[str, Any]) -> str:
    return calls.classify(figures)
