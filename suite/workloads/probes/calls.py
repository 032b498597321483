"""The common part of probes that call a function with one input after another: figures, classes and the calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

FIGURES = {
    "seconds": ("s", "each call but the first, until its result is in the host's memory"),
    "first_seconds": ("s", "the first call, until its result is in the host's memory"),
    "again_seconds": ("s", "the first call again, once it is compiled, until the result is computed"),
    "calls": ("count", "calls in all"),
    "right": ("count", "calls with the right answer"),
    "first_compiles": ("count", "programs compiled in the first call"),
    "traces": ("count", "traces in all calls but the first"),
    "compiles": ("count", "programs compiled in all calls but the first"),
    "graph_breaks": ("count", "breaks of the graph in all calls"),
    "fallback_ops": ("count", "operations that another backend ran in all calls"),
    "skipped": ("count", "functions that the tracer gave up on"),
}
AGAIN = 20  # repeats of the first call
# TensorFlow counts traces, but not the programs that XLA compiles from one trace, one for each value that is a shape.
# If even the quickest of the other calls takes so many times as long as a compiled call, each of them has compiled. A
# call that compiles takes hundreds of times as long, one that doesn't at most three times (it also fetches its result).
COMPILES = 30


def observe(
    recorder: Any,
    aspect: str,
    code: Callable[..., Any],
    function: Callable[..., Any],
    calls: Sequence[Sequence[Any]],
    answers: Sequence[Any],
    same: Callable[[Any, Any], bool] = np.array_equal,
    beside: float = 0.0,
) -> float:
    """Calls `function`, which is `code` as the stack runs it, with each of `calls`, and records the aspect.

    Arrays among the arguments are put on the device; other values are static arguments. `answers` are NumPy's results.
    `beside` is the time, in seconds, of the call that the figure `factor` compares with; 0: there is no such figure.
    Returns the median time of the repeated first call in seconds; 0 if something was raised.
    """
    stack, seconds = recorder.stack, []
    placed = [[stack.put(value) if isinstance(value, np.ndarray) else value for value in call] for call in calls]

    def call_others() -> list[Any]:
        results = []
        for call in placed[1:]:
            start = perf_counter()
            results.append(stack.fetch(function(*call)))
            seconds.append(perf_counter() - start)
        return results

    before = stack.probe_counters()
    first = recorder.watch(lambda: stack.fetch(function(*placed[0])))
    again = [] if first.error else recorder.seconds(lambda: function(*placed[0]), AGAIN)
    others = first if first.error else recorder.watch(call_others)
    if others.error:
        recorder.record(aspect, code, others)
        return 0.0
    results = [first.value, *others.value]
    figures = counted_in_all(recorder, before, first, others) | {
        "first_seconds": first.seconds,
        "first_compiles": first.counted["compiles"],
        "calls": len(results),
        "right": sum(same(result, answer) for result, answer in zip(results, answers, strict=True)),
        "factor": median(again) / beside if beside else None,
    }
    recorder.record(aspect, code, others, seconds=seconds, again_seconds=again, **figures)
    return float(median(again))


def counted_in_all(recorder: Any, before: Mapping[str, float], *actions: Any) -> dict[str, float | None]:
    """Returns the counts of several watched actions, summed; None for what the framework doesn't count.

    `before` are the stack's `probe_counters` from before the first action.
    """
    counts = {name: [action.counted[name] for action in actions] for name in ("graph_breaks", "fallback_ops")}
    figures = {name: None if None in values else sum(values) for name, values in counts.items()}
    after = recorder.stack.probe_counters()
    return figures | {name: after[name] - before[name] for name in after if name in recorder.spec.FIGURES}


def obstacle(figures: Mapping[str, Any], calls: int) -> str:
    """Returns the class of a function that gave a wrong answer or wasn't traced whole; empty if it is another."""
    if figures["right"] < calls:
        return "wrong"
    if figures.get("graph_breaks"):
        return "breaks the graph"
    return "left to Python" if figures.get("skipped") else ""


def classify(figures: Mapping[str, Any]) -> str:
    """Returns the class of a function that was called with one input after another: by counts, and where the framework
    has counted no compile, by whether the calls took the time of one."""
    if class_ := obstacle(figures, figures["calls"]):
        return class_
    if figures.get("fallback_ops"):
        return "falls back"
    if "compiles" not in figures:
        return "interprets"
    if figures["compiles"] == 0:
        unseen = min(figures["seconds"]) > COMPILES * median(figures["again_seconds"])
        return "recompiles each time" if unseen else "one program"
    return "recompiles each time" if figures["compiles"] >= figures["calls"] - 1 else "recompiles"
