"""How kernels are counted in XLA's programs, the calls, and the classes, by the number of kernels."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from statistics import median
from typing import Any

import numpy as np

SAMPLES = 5
OPERATIONS = {"selu": 5, "chain": 20}


ENTRY = re.compile(r"^ENTRY [^\n]*\{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
INSTRUCTION = re.compile(r"^\s+(?:ROOT )?%?[\w.-]+ = (?:\(.*?\)|\S+) ([\w-]+)\(", re.MULTILINE)
NO_KERNEL = {"parameter", "constant", "tuple", "get-tuple-element", "bitcast"}


def launched(program: str) -> int:
    """The number of kernels in the text of XLA's optimized program: the instructions of its entry that work."""
    entry = ENTRY.search(program)
    return sum(name not in NO_KERNEL for name in INSTRUCTION.findall(entry[1] if entry else ""))


def chain(x: Any) -> Any:
    for _ in range(10):
        x = x * 0.5 + 1.0
    return x


def short(x: Any) -> Any:
    return x * 0.5 + 1.0


def observe(
    recorder: Any, selu: Callable[[Any], Any], kernels: Callable[[Callable[[Any], Any], Any], int | None]
) -> None:
    """Observes both aspects and records them. `selu` is the dialect's function; `kernels` counts the kernels of a
    function for an array, or returns None if the framework can't tell."""
    stack = recorder.stack
    n = stack.dims["n"]
    host = np.random.default_rng(0).standard_normal((n, n), np.float32)
    x, copy = stack.put(host), np.empty_like(host)
    copy[...] = 0.0  # so that its memory is there before the copies
    copies = recorder.seconds(lambda: np.copyto(copy, host), SAMPLES)
    for aspect, function in {"selu": selu, "chain": chain}.items():
        compiled = stack.jit(function)
        seen = recorder.watch(partial(kernels, function, x))
        if seen.error:
            recorder.record(aspect, function, seen)
            continue
        recorder.seconds(partial(compiled, x), 1)
        taken = recorder.seconds(partial(compiled, x), SAMPLES)
        figures = {"seconds": taken, "bandwidth": 2 * host.nbytes / median(taken), "kernels": seen.value}
        if stack.case.target == "cpu":  # elsewhere the host's copy says nothing of the device's
            figures |= {"copy_seconds": copies, "share": median(copies) / median(taken)}
        if aspect == "chain" and seen.value is None:
            two = stack.jit(short)
            recorder.seconds(partial(two, x), 1)
            figures["short_seconds"] = recorder.seconds(partial(two, x), SAMPLES)
        recorder.record(aspect, function, seen, **figures)


def classify(aspect: str, figures: Mapping[str, Any]) -> str:
    """By the number of kernels, if it is known; else, for the chain, by its time. Twenty passes over the memory take
    about ten times as long as two, and one pass for all operations as long as one for two; four times is far from both.
    SELU's time doesn't tell: its exponential takes longer than all passes."""
    if "kernels" in figures:
        return "fused" if figures["kernels"] <= OPERATIONS[aspect] / 2 else "op by op"
    if aspect == "chain" and "short_seconds" in figures:
        return "fused" if min(figures["seconds"]) < 4 * min(figures["short_seconds"]) else "op by op"
    return "measured"
