"""prng: random numbers from a global state that a seed sets, or from keys and generators that are handed on.

Numbers are compared bit by bit. Inside of a compiled function the same generator may be computed in another order of
roundings, or be another generator altogether; the largest difference tells which.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

TITLE = "Where random numbers come from"
SIZES = {"tiny": {"n": 1_000, "many": 100_000}, "quick": {"n": 1_000, "many": 10_000_000}}
PASSES = ("forward",)

ASPECTS = {
    "same_seed": "seeded twice alike",
    "two_draws": "two draws after one seed",
    "split": "two streams, and a second draw from the first",
    "compiled": "inside of a function as this stack runs it, and outside",
    "compiled_seed": "that function, seeded twice alike",
    "compiled_draws": "two calls of that function after one seed",
    "compiled_leaves": "a call of that function, then a draw outside, after one seed",
    "compiled_stream": "from a key or generator handed to such a function, and outside",
    "processes": "in a fresh process, and in this one",
    "digest": "1,000 uniform numbers from seed 0",
    "normals": "many normal numbers",
}
FIGURES = {
    "seconds": ("s", "one call, until its numbers are there"),
    "equal": ("1", "share of the numbers that are the same in both, bit by bit"),
    "difference": ("1", "the largest difference of two numbers at the same place"),
    "seeds": ("count", "seeds that the user chooses for two streams"),
    "again": ("1", "share of a stream's second draw that is as in its first"),
    "digest": ("1", "the first 48 bits of the SHA-256 of the numbers' bytes"),
    "traces": ("count", "times that a function was traced"),
    "compiles": ("count", "programs that were compiled"),
    "graph_breaks": ("count", "breaks of the graph"),
    "fallback_ops": ("count", "operations that another backend ran"),
}
CLASSES = {
    "same": "both are the same numbers, bit by bit",
    "same but for rounding": "both are the same numbers up to their last digits",
    "differ": "both are other numbers",
    "splits": "the framework makes independent streams from one seed",
    "a seed each": "each stream takes a seed of its own, which the user chooses",
    "a seed each, draws repeat": "likewise, and every draw from a stream gives its first numbers again",
    "(12 digits)": "which numbers a seed gives: the beginning of their SHA-256. Another one is another generator",
    "measured": "no class: the figures speak",
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
    """By the numbers themselves."""
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
PRIMER = {
    "two_draws": {
        "jax_eager": ("same", THE_PRIMER),
        "torch_eager": ("differ", THE_PRIMER),
        "tf_eager": ("differ", THE_PRIMER),
    }
}


def compared(one: NDArray[np.float32], other: NDArray[np.float32]) -> dict[str, float]:
    """The figures of two draws."""
    return {
        "equal": float(np.mean(one.view(np.uint32) == other.view(np.uint32))),
        "difference": float(np.max(np.abs(one - other))),
    }


def digest(numbers: NDArray[np.float32]) -> int:
    """The first 48 bits of the SHA-256 of the numbers' bytes: as many as a float holds exactly."""
    return int(hashlib.sha256(np.asarray(numbers, "<f4").tobytes()).hexdigest()[:12], 16)


def elsewhere(file: str, *arguments: str) -> int:
    """What a dialect's file prints, run by a fresh interpreter of this environment; a framework may print before."""
    done = subprocess.run([sys.executable, file, *arguments], check=True, stdout=subprocess.PIPE, text=True)
    return int(done.stdout.split()[-1])
