"""fusion: are element-wise operations run one by one, or as one pass over the memory?

SELU with the constants of the workload `selu`, written out of five primitives in every dialect (PyTorch's ELU would be
one kernel by itself), and a chain of twenty operations, multiplications and additions in turns. Kernels are counted
where they can be, by the framework's own means: operations dispatched by PyTorch (its profiler) and NumPy, kernels
that Inductor generates, instructions of XLA's optimized program, operations of TensorFlow's graph once it is optimized.
PyTorch/XLA can't be asked for its optimized program: there the chain is held against its first two operations alone.
The bandwidth counts the array once read and once written; the machine's copy, by NumPy on one core, is counted alike.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from statistics import median
from typing import Any

import numpy as np

TITLE = "Whether element-wise operations are fused"
SIZES = {"tiny": {"n": 1000}, "quick": {"n": 3000}}
PASSES = ("forward",)

SAMPLES = 5
OPERATIONS = {"selu": 5, "chain": 20}

ASPECTS = {"selu": "SELU out of five primitives", "chain": "a chain of twenty operations"}
FIGURES = {
    "seconds": ("s", "a call, until its result is computed"),
    "share": ("1", "bandwidth, as a part of the machine's copy"),
    "bandwidth": ("bytes/s", "the array once read and once written, by a call's median"),
    "kernels": ("count", "kernels that a call launches"),
    "short_seconds": ("s", "a call of two operations alone, where nobody counts kernels"),
    "copy_seconds": ("s", "NumPy's copy of such an array into one that is there already"),
}
CLASSES = {
    "fused": "a few kernels do it all",
    "op by op": "each operation is a kernel, and a pass over the memory, of its own",
    "measured": "its kernels couldn't be counted, and its time, the exponential's, doesn't tell",
}

JAX_JIT = "https://docs.jax.dev/en/latest/201/jit.html"
TORCH_COMPILE = "https://pytorch.org/docs/stable/torch.compiler_get_started.html"
TF_XLA = "https://openxla.org/xla/tf2xla"

ENTRY = re.compile(r"^ENTRY [^\n]*\{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
INSTRUCTION = re.compile(r"^\s+(?:ROOT )?%?[\w.-]+ = (?:\(.*?\)|\S+) ([\w-]+)\(", re.MULTILINE)
NO_KERNEL = {"parameter", "constant", "tuple", "get-tuple-element", "bitcast"}


def launched(program: str) -> int:
    """Kernels of an optimized program of XLA, as text: instructions of its entry that do something."""
    entry = ENTRY.search(program)
    return sum(name not in NO_KERNEL for name in INSTRUCTION.findall(entry[1] if entry else ""))


def chain(x: Any) -> Any:
    """Returns the result of twenty operations."""
    for _ in range(10):
        x = x * 0.5 + 1.0
    return x


def short(x: Any) -> Any:
    """Returns the result of the chain's first two operations."""
    return x * 0.5 + 1.0


def observe(
    recorder: Any, selu: Callable[[Any], Any], kernels: Callable[[Callable[[Any], Any], Any], int | None]
) -> None:
    """Records both aspects. `selu` is the dialect's; `kernels` counts the kernels of a function for an array, or
    returns None if the framework can't tell."""
    stack = recorder.stack
    n = stack.dims["n"]
    host = np.random.default_rng(0).standard_normal((n, n), np.float32)
    x, copy = stack.put(host), np.empty_like(host)
    copy[...] = 0.0  # its memory is there
    copies = recorder.seconds(lambda: np.copyto(copy, host), SAMPLES)
    for aspect, function in {"selu": selu, "chain": chain}.items():
        compiled = stack.jit(function)
        seen = recorder.watch(partial(kernels, function, x))
        if seen.error:
            recorder.tell(aspect, function, seen)
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
        recorder.tell(aspect, function, seen, **figures)


def classify(aspect: str, figures: Mapping[str, Any]) -> str:
    """By the kernels, where they are known. Else a chain by its time: of twenty passes over the memory it takes about
    ten times that of two, of one pass about the same; four is far from both. SELU's one exponential takes longer than
    all of its passes."""
    if "kernels" in figures:
        return "fused" if figures["kernels"] <= OPERATIONS[aspect] / 2 else "op by op"
    if aspect == "chain" and "short_seconds" in figures:
        return "fused" if min(figures["seconds"]) < 4 * min(figures["short_seconds"]) else "op by op"
    return "measured"


PAGES = {
    "jax_eager": ("op by op", JAX_JIT),
    "jax_jit": ("fused", JAX_JIT),
    "torch_eager": ("op by op", TORCH_COMPILE),
    "torch_inductor": ("fused", TORCH_COMPILE),
    "tf_graph": ("op by op", TF_XLA),
    "tf_xla": ("fused", TF_XLA),
}
DOCUMENTED = {"selu": PAGES, "chain": PAGES}
