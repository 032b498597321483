"""The calls' inputs and right answers, and the classes, by counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from suite.workloads.probes import calls

FIGURES = calls.FIGURES
FILL = -1  # fills the array if there are fewer places than its size


def masked(x: Any) -> Any:  # as JAX, NumPy and PyTorch write it; so are the next two
    return x[x > 0].sum()


def head(x: Any, k: Any) -> Any:
    return x[:k].sum()


def squares(x: Any) -> Any:
    return (x * x).sum()


def inputs(aspect: str, dims: Mapping[str, int]) -> list[list[Any]]:
    """The arguments of each call. Sums of the values are exact in float32, in any order. All lengths of a size
    lie on the same side of 4096, because Inductor sums longer arrays in another way, by another program."""
    n, counts = dims["n"], [dims["n"] // 2 + call for call in range(dims["calls"])]
    values = np.arange(1, n + 1, dtype=np.float32)
    if aspect == "slice":
        return [[values, np.array(count, np.int32)] for count in counts]
    if aspect == "lengths":
        return [[np.ones(n + call * (n // dims["calls"]), np.float32)] for call in range(dims["calls"])]
    return [[np.where(values <= count, values, -values).astype(np.float32)] for count in counts]


def padded(dims: Mapping[str, int]) -> list[list[Any]]:
    """The inputs of many lengths, each padded to the longest, with its real length."""
    values = [call[0] for call in inputs("lengths", dims)]
    return [[np.pad(x, (0, len(values[-1]) - len(x))), np.array(len(x), np.int32)] for x in values]


def answers(aspect: str, dims: Mapping[str, int]) -> list[Any]:
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
    class_ = calls.classify(figures)
    return "recompiles once or twice" if class_ == "recompiles" and figures["compiles"] <= 2 else class_
