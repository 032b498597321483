"""side_effects: what becomes of a function's side effects when it is compiled.

Each function is called ten times, five times with one length and five with another, so that a framework which traces
does so twice. The probe counts how often a text is printed, how often a list grows, and how often a global, which is
changed before each call, has its new value.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

TITLE = "Side effects of compiled functions"
SIZES = {"tiny": {"n": 64}, "quick": {"n": 4096}}
PASSES = ("forward",)

ASPECTS = {
    "print": "printing",
    "append": "appending to a list outside",
    "global": "reading a global that is changed before each call",
}
FIGURES = {
    "seconds": ("s", "all calls, until their results are in the host's memory"),
    "calls": ("count", "calls"),
    "times": ("count", "texts printed, or values appended"),
    "right": ("count", "calls that used the global's value at the time of the call"),
}
CLASSES = {
    "each call": "it happens in each call, as in plain Python",
    "while tracing": "it happens only when the function is traced: once for each length",
    "never": "it doesn't happen",
    "stale": "a call uses the value that the global had when the function was traced",
}

JAX_JIT = "https://docs.jax.dev/en/latest/jit-compilation.html"
JAX_GOTCHAS = "https://docs.jax.dev/en/latest/notebooks/Common_Gotchas_in_JAX.html"
TF_FUNCTION = "https://www.tensorflow.org/guide/function"
TORCHAX_IMPURE = "https://github.com/google/torchax/blob/main/docs/docs/user_guide/working-with-impure-functions.md"
THE_PRIMER = "https://sineeli.github.io/2025/12/20/jax-series-1"


def classify(aspect: str, figures: Mapping[str, Any]) -> str:
    """Returns the class, by counts alone."""
    if aspect == "global":
        return "each call" if figures["right"] == figures["calls"] else "stale"
    if figures["times"] == figures["calls"]:
        return "each call"
    return "while tracing" if figures["times"] else "never"


DOCUMENTED = {
    "print": {
        "jax_jit": ("while tracing", JAX_JIT),
        "torchax_jit": ("while tracing", TORCHAX_IMPURE),
        "tf_graph": ("while tracing", TF_FUNCTION),
    },
    "append": {"jax_jit": ("while tracing", JAX_JIT), "tf_graph": ("while tracing", TF_FUNCTION)},
    "global": {
        "jax_jit": ("stale", JAX_GOTCHAS),
        "torchax_jit": ("stale", TORCHAX_IMPURE),
        "tf_graph": ("stale", TF_FUNCTION),
    },
}
PRIMER = {"print": {"jax_jit": ("while tracing", THE_PRIMER)}}
