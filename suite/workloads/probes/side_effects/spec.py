"""side_effects: what a function does besides its result, when it is compiled.

Ten calls of each function, five with one length and five with another, so that a framework which traces does so twice:
how often a text is printed, a list grows, and a global that is changed before each call is read anew.
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
    "right": ("count", "calls that used the global's value of that moment"),
}
CLASSES = {
    "each call": "it happens in each call, as Python says",
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
    """By counts alone."""
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
