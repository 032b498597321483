"""fusion: are element-wise operations run one by one, or as one pass over the memory?

The probe runs SELU with the constants of the workload `selu`, made of five primitives in every dialect (PyTorch's ELU
would be one kernel by itself), and a chain of twenty operations, in which multiplications and additions alternate.
Kernels are counted by the framework's own means, where it has any: operations dispatched by PyTorch (its profiler) and
NumPy, kernels that Inductor generates, instructions of XLA's optimized program, operations of TensorFlow's optimized
graph. PyTorch/XLA gives no access to its optimized program: there the chain's time is compared with that of its first
two operations. The bandwidth counts the array as read once and written once, both for a call and for the machine's
copy, which NumPy makes on one core.
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
    "share": ("1", "the bandwidth, as a share of the machine's copy's"),
    "bandwidth": ("bytes/s", "the array's bytes, once read and once written, divided by a call's median"),
    "kernels": ("count", "kernels that a call launches"),
    "short_seconds": ("s", "a call of the chain's first two operations, where kernels can't be counted"),
    "copy_seconds": ("s", "NumPy's copy of such an array into an existing one"),
}
CLASSES = {
    "fused": "a few kernels run all operations",
    "op by op": "each operation is a kernel, and a pass over the memory, of its own",
    "measured": "not classified: kernels can't be counted, and most of the time is the exponential's; see the figures",
}

JAX_JIT = "https://docs.jax.dev/en/latest/201/jit.html"
TORCH_COMPILE = "https://pytorch.org/docs/stable/torch.compiler_get_started.html"
TF_XLA = "https://openxla.org/xla/tf2xla"

ENTRY = re.compile(r"^ENTRY [^\n]*\{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
INSTRUCTION = re.compile(r"^\s+(?:ROOT )?%?[\w.-]+ = (?:\(.*?\)|\S+) ([\w-]+)\(", re.MULTILINE)
NO_KERNEL = {"parameter", "constant", "tuple", "get-tuple-element", "bitcast"}


def launched(program: str) -> int:
    """Returns the number of kernels in the text of XLA's optimized program: the instructions of its entry that work."""
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
    """Returns the class by the number of kernels, if it is known; else, for the chain, by its time. Twenty passes over
    the memory take about ten times as long as two, and one pass for all operations as long as one for two; four times
    is far from both. SELU's time doesn't tell: its exponential takes longer than all passes."""
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
