"""prealloc: what does a framework take before it has done anything, as it comes and with preallocation turned off?

Asked of fresh processes, because this one was started with preallocation off, and has taken what it takes. Each imports
the framework and makes one small array on the device. On a GPU, the device's memory in use before and after tells; on a
CPU nothing preallocates, and the process's resident memory is what a framework costs before the first useful byte.
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
    "share": ("1", "share of the device's memory that the process has taken; of the machine's on a CPU"),
    "python_bytes": ("bytes", "resident memory of the process before the import"),
    "import_bytes": ("bytes", "resident memory that the import adds"),
    "array_bytes": ("bytes", "resident memory that the first array adds, with the runtime that it starts"),
    "anonymous_bytes": ("bytes", "of it all, what isn't a page of a file"),
    "device_bytes": ("bytes", "memory of the GPU in use that wasn't before the import"),
}
CLASSES = {
    "preallocates": "more than half of the device's memory is gone at the first array",
    "takes what it needs": "less",
}

# What this process was started with, so that peaks are what a model takes; the framework's users don't set it.
SETTINGS = ("XLA_PYTHON_CLIENT_PREALLOCATE", "TF_FORCE_GPU_ALLOW_GROWTH")

JAX_MEMORY = "https://docs.jax.dev/en/latest/gpu_memory_allocation.html"
TF_MEMORY = "https://www.tensorflow.org/guide/gpu"

# Of "default" nothing is documented that holds on every device: JAX's 75 % and TensorFlow's nearly all are GPUs'.
DOCUMENTED = {
    "off": dict.fromkeys(("jax_eager", "jax_jit"), ("takes what it needs", JAX_MEMORY))
    | dict.fromkeys(("tf_eager", "tf_graph", "tf_xla"), ("takes what it needs", TF_MEMORY))
}


def classify(aspect: str, figures: Mapping[str, Any]) -> str:
    """By the share. A small array takes under a hundredth, with a context under a tenth; JAX's default is 0.75."""
    return "preallocates" if figures["share"] > 0.5 else "takes what it needs"


def ask(stack: Any, recorder: Any, file: str, code: Callable[..., Any], off: Mapping[str, str], reason: str) -> None:
    """Records both aspects. `off` are the variables that turn preallocation off; if there are none, `reason` says
    why."""
    target = stack.case.target
    if target == "tpu":
        for aspect in ASPECTS:
            recorder.lacks(aspect, "one process at a time holds a TPU, and this one does")
        return
    plain = {name: value for name, value in os.environ.items() if name not in SETTINGS}
    recorder.tell("default", code, **elsewhere(file, plain, code.__name__, target))
    if off:
        words = " ".join(f"{name}={value}" for name, value in off.items())
        recorder.tell("off", code, words=words, **elsewhere(file, {**plain, **off}, code.__name__, target))
    else:
        recorder.lacks("off", reason)


def elsewhere(file: str, environ: Mapping[str, str], *arguments: str) -> dict[str, float]:
    """Runs a dialect's file in a fresh interpreter of this environment. Returns the last line that it prints, since the
    framework may print first."""
    command = [sys.executable, file, *arguments]
    done = subprocess.run(command, env=environ, check=True, stdout=subprocess.PIPE, text=True)
    figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return figures


def weigh(module: str, first_array: Callable[[str], Any], target: str) -> dict[str, float]:
    """Returns the figures of this process: before the framework's import, after it, and with one array on the
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
    del array  # until here it is there
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
