"""retrace: what makes a compiled function be traced and compiled again?

A function of an array, a Python number and a word is called once, and then with one thing changed. The framework's own
counters tell whether it was traced and compiled again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

TITLE = "What is traced and compiled again"
SIZES = {"tiny": {"n": 64}, "quick": {"n": 4096}}
PASSES = ("forward",)

ASPECTS = {
    "same": "nothing changes",
    "value": "other values of an array",
    "shape": "another length",
    "rank": "one more axis",
    "dtype": "float16 in place of float32",
    "scalar": "another Python number",
    "scalars": "eight more Python numbers, one a call",
    "static": "another static argument, a word",
}
MORE = 8
FIGURES = {
    "seconds": ("s", "the changed call, until its result is computed; for eight numbers, all eight calls together"),
    "again_seconds": ("s", "the changed call repeated"),
}
CLASSES = {
    "reuses": "the compiled program is used as it is",
    "retraces": "the function is traced, and compiled, once more",
    "retraces each time": "the function is traced, or compiled, in each of several calls",
    "retraces at times": "the function is traced, or compiled, in some of several calls",
    "interprets": "nothing is ever compiled: Python runs the function in each call",
}

JAX_JIT = "https://docs.jax.dev/en/latest/201/jit.html"
TORCH_DYNAMIC = "https://docs.pytorch.org/docs/stable/torch.compiler_dynamic_shapes.html"
TF_FUNCTION = "https://www.tensorflow.org/guide/function"
THE_PRIMER = "https://sineeli.github.io/2025/12/20/jax-series-1"


def classify(aspect: str, figures: Mapping[str, Any]) -> str:
    """Returns the class, by the traces and compiles that the framework counted in the changed call."""
    counts = [figures[name] for name in ("traces", "compiles") if name in figures]
    if not counts:
        return "interprets"
    if aspect == "scalars" and any(counts):
        return "retraces each time" if max(counts) >= MORE else "retraces at times"
    return "retraces" if any(counts) else "reuses"


DOCUMENTED = {
    "same": {stack: ("reuses", page) for stack, page in (("jax_jit", JAX_JIT), ("tf_graph", TF_FUNCTION))},
    "value": {"jax_jit": ("reuses", JAX_JIT), "tf_graph": ("reuses", TF_FUNCTION)},
    "shape": {
        "jax_jit": ("retraces", JAX_JIT),
        "tf_graph": ("retraces", TF_FUNCTION),
        "torch_inductor": ("retraces", TORCH_DYNAMIC),
    },
    "rank": {"jax_jit": ("retraces", JAX_JIT), "tf_graph": ("retraces", TF_FUNCTION)},
    "dtype": {"jax_jit": ("retraces", JAX_JIT), "tf_graph": ("retraces", TF_FUNCTION)},
    "scalar": {"jax_jit": ("reuses", JAX_JIT), "tf_graph": ("retraces", TF_FUNCTION)},
    "static": {"jax_jit": ("retraces", JAX_JIT), "tf_graph": ("retraces", TF_FUNCTION)},
    "scalars": {"jax_jit": ("reuses", JAX_JIT), "tf_graph": ("retraces each time", TF_FUNCTION)},
}
PRIMER = {
    "same": {"jax_jit": ("reuses", THE_PRIMER)},
    "shape": {"jax_jit": ("retraces", THE_PRIMER)},
    "dtype": {"jax_jit": ("retraces", THE_PRIMER)},
}
