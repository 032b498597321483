"""Functions that branch, the calls, and the classes, by counts alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from statistics import median
from typing import Any

import numpy as np

from suite.workloads.probes import calls


def python_if(x: Any) -> Any:
    if x.sum() > 0:
        return x * 2
    return x - 1


def static_if(x: Any, double: bool) -> Any:
    if double:
        return x * 2
    return x - 1


def doubled(x: Any) -> Any:
    return x * 2


def lessened(x: Any) -> Any:
    return x - 1


def observe(recorder: Any, aspect: str, code: Callable[..., Any], words: str = "") -> None:
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
    if class_ := calls.obstacle(figures, calls=2):
        return class_
    if figures.get("reads"):
        return "waits for the value"
    if figures.get("first_compiles", 0) + figures.get("compiles", 0) == 0:
        return "interprets"
    return "one program" if figures["compiles"] == 0 else "a program per branch"
