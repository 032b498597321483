"""prng: random numbers from a global state that a seed sets, or from keys and generators that are passed along.

Numbers are compared bit by bit. A compiled function may round the same generator's numbers differently, or use another
generator; the largest difference tells which.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

TITLE = "Where random numbers come from"
SIZES = {"tiny": {"n": 1_000, "many": 100_000}, "quick": {"n": 1_000, "many": 10_000_000}}
PASSES = ("forward",)

ASPECTS = {
    "same_seed": "two draws, each after setting the same seed",
    "two_draws": "two draws after one seed",
    "split": "two streams, and a second draw from the first",
    "compiled": "a draw inside a function as this stack runs it, against one outside",
    "compiled_seed": "two calls of that function, each after setting the same seed",
    "compiled_draws": "two calls of that function after one seed",
    "compiled_leaves": "a call of that function, then a draw outside, after one seed",
    "compiled_stream": "a draw from a key or generator passed to such a function, against one outside",
    "processes": "a draw in a fresh process, against one in this process",
    "digest": "1,000 uniform numbers from seed 0",
    "normals": "many normal numbers",
}
FIGURES = {
    "seconds": ("s", "one call, until its numbers are computed"),
    "equal": ("1", "share of the numbers that are equal in both draws, bit by bit"),
    "difference": ("1", "the largest difference between numbers at equal places"),
    "seeds": ("count", "seeds that the user chooses for two streams"),
    "again": ("1", "share of the numbers that a stream's second draw repeats from its first"),
    "digest": ("1", "the first 48 bits of the SHA-256 of the numbers' bytes"),
}
CLASSES = {
    "same": "the numbers are equal, bit by bit",
    "same but for rounding": "the numbers are equal up to their last digits",
    "differ": "the numbers differ",
    "splits": "the framework makes independent streams from one seed",
    "a seed each": "each stream takes its own seed, which the user chooses",
    "a seed each, draws repeat": "each stream takes its own seed, and every draw repeats the stream's first numbers",
    "(12 digits)": "the first digits of the SHA-256 of a seed's numbers. A different value means a different generator",
    "measured": "not classified; see the figures",
}

# Independent normal numbers are about 1 apart; roundings of a logarithm or an error function are near 1e-6.
ROUNDING = 1e-3

JAX_RANDOM = "https://docs.jax.dev/en/latest/jax.random.html"
TORCH_RANDOMNESS = "https://docs.pytorch.org/docs/stable/notes/randomness.html"
TF_SEED = "https://www.tensorflow.org/api_docs/python/tf/random/set_seed"
TF_RANDOM = "https://www.tensorflow.org/guide/random_numbers"
TF_XLA_ISSUES = "https://www.tensorflow.org/xla/known_issues"
NUMPY_SPAWN = "https://numpy.org/devdocs/reference/random/generated/numpy.random.Generator.spawn.html"
THE_PRIMER = "https://sineeli.github.io/2025/12/20/jax-series-1"


def classify(aspect: str, figures: Mapping[str, Any]) -> str:
    """Returns the class of one aspect, from its figures."""
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


DOCUMENTED = {
    "same_seed": {
        "jax_eager": ("same", JAX_RANDOM),
        "jax_jit": ("same", JAX_RANDOM),
        "torch_eager": ("same", TORCH_RANDOMNESS),
        "tf_eager": ("same", TF_SEED),
    },
    "two_draws": {"jax_eager": ("same", JAX_RANDOM), "jax_jit": ("same", JAX_RANDOM), "tf_eager": ("differ", TF_SEED)},
    "split": {
        "numpy": ("splits", NUMPY_SPAWN),
        "jax_eager": ("splits", JAX_RANDOM),
        "jax_jit": ("splits", JAX_RANDOM),
        "tf_eager": ("splits", TF_RANDOM),
        "tf_graph": ("splits", TF_RANDOM),
        "tf_xla": ("splits", TF_RANDOM),
    },
    "compiled_seed": {"tf_graph": ("same", TF_SEED), "tf_xla": ("differ", TF_XLA_ISSUES)},
    "compiled_draws": {"tf_graph": ("differ", TF_SEED)},
    "compiled_stream": {"tf_xla": ("same but for rounding", TF_RANDOM)},  # "almost the same", with XLA, too
    "processes": {"tf_eager": ("same", TF_SEED)},
}
# What the primer "JAX series 1" says of these aspects; a report shows it beside what was observed.
PRIMER = {
    "two_draws": {
        "jax_eager": ("same", THE_PRIMER),
        "torch_eager": ("differ", THE_PRIMER),
        "tf_eager": ("differ", THE_PRIMER),
    }
}


def compared(first: NDArray[np.float32], second: NDArray[np.float32]) -> dict[str, float]:
    """Returns the figures that compare two draws."""
    return {
        "equal": float(np.mean(first.view(np.uint32) == second.view(np.uint32))),
        "difference": float(np.max(np.abs(first - second))),
    }


def digest(numbers: NDArray[np.float32]) -> int:
    """Returns the first 48 bits of the SHA-256 of the numbers' bytes: as many as a float holds exactly."""
    return int(hashlib.sha256(np.asarray(numbers, "<f4").tobytes()).hexdigest()[:12], 16)


def run_fresh(file: str, *arguments: str) -> int:
    """Runs a dialect's file in a fresh interpreter of this environment. Returns the last number that it prints; the
    framework may print other lines before."""
    done = subprocess.run([sys.executable, file, *arguments], check=True, stdout=subprocess.PIPE, text=True)
    return int(done.stdout.split()[-1])


def compare(recorder: Any, aspect: str, code: Callable[..., Any], draws: Callable[[], Any], **figures: float) -> None:
    """Records one aspect: whether the first two arrays that `draws` returns are equal. If there is a third array, it is
    a second draw from the first array's stream; it is used only if each stream needs its own seed."""
    seen = recorder.watch(draws)
    numbers = [recorder.stack.fetch(value) for value in seen.value or ()]
    if numbers[2:] and figures.get("seeds", 1) > 1:
        figures["again"] = compared(numbers[0], numbers[2])["equal"]
    figures |= compared(*numbers[:2]) if numbers else {}
    recorder.record(aspect, code, seen, seconds=None, **figures)


def observe_generator(recorder: Any, uniforms: Callable[..., Any], numbers: Any, file: str, *arguments: str) -> None:
    """Observes and records `processes` and `digest`. `numbers` is what `uniforms` drew in this process; `file`, the
    dialect's file, prints their digest in a fresh process that is started with `arguments`."""
    here = digest(numbers)
    if recorder.stack.case.target == "tpu":
        recorder.lacks("processes", "only one process at a time can hold a TPU, and the probe's own does")
    else:
        there = run_fresh(file, *arguments)
        recorder.record("processes", uniforms, equal=float(there == here), difference=float(there != here))
    recorder.record("digest", uniforms, words=" ".join(map(str, numbers[:3])), digest=here)
