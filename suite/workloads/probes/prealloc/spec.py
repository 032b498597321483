"""prealloc: how much memory does a framework take at the start, by default and with preallocation turned off?

The probe starts fresh processes, because its own was started with preallocation off and has taken its memory already.
A fresh process imports the framework and makes one small array on the device. On a GPU, the figure is by how much the
device's used memory grows. On a CPU nothing preallocates: the figure is the process's resident memory, which a
framework costs before it does anything useful.
"""

from __future__ import annotations

import importlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

TITLE = "Memory that is taken at the start"
SIZES = {"tiny": {"n": 1_024}, "quick": {"n": 1_024}}
PASSES = ("forward",)

ASPECTS = {"default": "the first array, as the framework comes", "off": "the first array, preallocation turned off"}
FIGURES = {
    "share": ("1", "share of the device's memory that the process has taken; on a CPU, of the machine's memory"),
    "python_bytes": ("bytes", "resident memory of the process before the import"),
    "import_bytes": ("bytes", "resident memory that the import adds"),
    "array_bytes": ("bytes", "resident memory that the first array adds, with the runtime that it starts"),
    "anonymous_bytes": ("bytes", "the part of all resident memory that isn't pages of files"),
    "device_bytes": ("bytes", "memory of the GPU that is in use and wasn't before the import"),
}
CLASSES = {
    "preallocates": "more than half of the device's memory is gone at the first array",
    "takes what it needs": "at most half of the device's memory is gone at the first array",
}

# The worker sets these for its own process, so that peak memory is what a model takes. By default they aren't set.
SETTINGS = ("XLA_PYTHON_CLIENT_PREALLOCATE", "TF_FORCE_GPU_ALLOW_GROWTH")

JAX_MEMORY = "https://docs.jax.dev/en/latest/gpu_memory_allocation.html"
TF_MEMORY = "https://www.tensorflow.org/guide/gpu"

# "default" isn't here: what is documented (JAX takes 75 %, TensorFlow nearly all) holds for GPUs, not for every device.
DOCUMENTED = {
    "off": dict.fromkeys(("jax_eager", "jax_jit"), ("takes what it needs", JAX_MEMORY))
    | dict.fromkeys(("tf_eager", "tf_graph", "tf_xla"), ("takes what it needs", TF_MEMORY))
}


def classify(aspect: str, figures: Mapping[str, Any]) -> str:
    """Returns the class, by the share of memory. A small array takes under a hundredth, with the device's context under
    a tenth; JAX's default is 0.75."""
    return "preallocates" if figures["share"] > 0.5 else "takes what it needs"


def observe(
    stack: Any, recorder: Any, file: str, code: Callable[..., Any], off: Mapping[str, str], reason: str
) -> None:
    """Observes both aspects and records them. `off` are the variables that turn preallocation off; if there are none,
    `reason` says why."""
    target = stack.case.target
    if target == "tpu":
        for aspect in ASPECTS:
            recorder.lacks(aspect, "only one process at a time can hold a TPU, and the probe's own does")
        return
    plain = {name: value for name, value in os.environ.items() if name not in SETTINGS}
    recorder.record("default", code, **run_fresh(file, plain, code.__name__, target))
    if off:
        words = " ".join(f"{name}={value}" for name, value in off.items())
        recorder.record("off", code, words=words, **run_fresh(file, {**plain, **off}, code.__name__, target))
    else:
        recorder.lacks("off", reason)


def run_fresh(file: str, environ: Mapping[str, str], *arguments: str) -> dict[str, float]:
    """Runs a dialect's file in a fresh interpreter of this environment. Returns the figures in the last line that it
    prints; the framework may print other lines before."""
    command = [sys.executable, file, *arguments]
    done = subprocess.run(command, env=environ, check=True, stdout=subprocess.PIPE, text=True)
    figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return figures


def memory_taken(module: str, first_array: Callable[[str], Any], target: str) -> dict[str, float]:
    """Returns the figures of this process's memory: before the framework's import, after it, and with one array on the
    device."""
    device_before, total = gpu() if target == "cuda" else (0, 0)
    before = status("VmRSS")
    importlib.import_module(module)
    imported = status("VmRSS")
    array = first_array(target)
    after = status("VmRSS")
    figures = {
        "python_bytes": before,
        "import_bytes": imported - before,
        "array_bytes": after - imported,
        "anonymous_bytes": status("RssAnon"),
    }
    if target == "cuda":
        taken = gpu()[0] - device_before
        figures |= {"device_bytes": taken, "share": taken / total}
    else:
        figures["share"] = after / memory()
    del array  # it must exist until here
    return figures


def status(field: str) -> float:
    """Returns a field of this process's status in bytes."""
    return kilobytes(Path("/proc/self/status"), field)


def memory() -> float:
    """Returns the machine's memory in bytes."""
    return kilobytes(Path("/proc/meminfo"), "MemTotal")


def kilobytes(file: Path, field: str) -> float:
    """Returns the bytes in a line like `field:   123 kB`."""
    match = re.search(rf"^{field}:\s+(\d+) kB", file.read_text(encoding="ascii", errors="replace"), re.MULTILINE)
    if match is None:
        raise RuntimeError(f"{file} has no {field}")
    return 1024.0 * int(match[1])


def gpu() -> tuple[float, float]:
    """Returns (bytes in use by any process, all bytes) of the first GPU that this process may use."""
    first = os.environ.get("CUDA_VISIBLE_DEVICES", "0").split(",")[0]
    command = ["nvidia-smi", f"--id={first}", "--query-gpu=memory.used,memory.total", "--format=csv,noheader,nounits"]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    used, total = done.stdout.splitlines()[0].split(", ")
    return 2.0**20 * int(used), 2.0**20 * int(total)
