"""Draws compared bit by bit, and the classes."""

from __future__ import annotations

import hashlib
import inspect
import runpy
import subprocess
import sys
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Independent normal numbers are about 1 apart; roundings of a logarithm or an error function are near 1e-6.
ROUNDING = 1e-3


def classify(aspect: str, figures: Mapping[str, Any]) -> str:
    if aspect == "normals":
        return "measured"
    if aspect == "digest":
        return f"{int(figures['digest']):012x}"
    if figures["equal"] == 1:
        return "same"
    if figures["difference"] < ROUNDING:
        return "same but for rounding"
    if aspect != "split":
        return "differ"
    if figures["seeds"] == 1:
        return "splits"
    return "a seed each, draws repeat" if figures.get("again") == 1 else "a seed each"


def compared(first: NDArray[np.float32], second: NDArray[np.float32]) -> dict[str, float]:
    return {
        "equal": float(np.mean(first.view(np.uint32) == second.view(np.uint32))),
        "difference": float(np.max(np.abs(first - second))),
    }


def digest(numbers: Any) -> int:
    """The first 48 bits of the SHA-256 of the numbers' bytes: as many as a float holds exactly."""
    return int(hashlib.sha256(np.asarray(numbers, "<f4").tobytes()).hexdigest()[:12], 16)


def run_fresh(draw: Callable[..., Any], *arguments: str) -> int:
    """The digest of what a dialect's `draw` returns in a fresh interpreter of this environment."""
    command = [sys.executable, __file__, inspect.getfile(draw), draw.__name__, *arguments]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return int(done.stdout.split()[-1])  # the framework may print other lines before


def compare(recorder: Any, aspect: str, code: Callable[..., Any], draws: Callable[[], Any], **figures: float) -> None:
    """Records one aspect: whether the first two arrays that `draws` returns are equal. If there is a third array, it is
    a second draw from the first array's stream; it is used only if each stream needs its own seed."""
    seen = recorder.watch(draws)
    numbers = [recorder.stack.fetch(value) for value in seen.value or ()]
    if numbers[2:] and figures.get("seeds", 1) > 1:
        figures["again"] = compared(numbers[0], numbers[2])["equal"]
    figures |= compared(*numbers[:2]) if numbers else {}
    recorder.record(aspect, code, seen, seconds=None, **figures)


def observe_generator(
    recorder: Any, uniforms: Callable[..., Any], numbers: Any, afresh: Callable[..., Any], *arguments: str
) -> None:
    """Observes and records `processes` and `digest`. `numbers` is what `uniforms` drew in this process; in a fresh one
    `afresh`, called with `arguments`, draws them."""
    here = digest(numbers)
    if recorder.stack.case.target == "tpu":
        recorder.lacks("processes", "only one process at a time can hold a TPU, and the probe's own does")
    else:
        there = run_fresh(afresh, *arguments)
        recorder.record("processes", uniforms, equal=float(there == here), difference=float(there != here))
    recorder.record("digest", uniforms, words=" ".join(map(str, numbers[:3])), digest=here)


if __name__ == "__main__":
    file, name, *arguments = sys.argv[1:]
    print(digest(runpy.run_path(file)[name](*arguments)))
