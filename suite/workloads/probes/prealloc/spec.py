"""The memory that a fresh process takes, and the classes, by the share of the device's."""

from __future__ import annotations

import importlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import FunctionType
from typing import Any

# The worker sets these for its own process, so that peak memory is what a model takes. By default they aren't set.
SETTINGS = ("XLA_PYTHON_CLIENT_PREALLOCATE", "XLA_CLIENT_MEM_FRACTION", "TF_FORCE_GPU_ALLOW_GROWTH")


def classify(aspect: str, figures: Mapping[str, Any]) -> str:
    """A small array takes under a hundredth of the memory, with the device's context under a tenth; JAX's default is
    0.75."""
    return "preallocates" if figures["share"] > 0.5 else "takes what it needs"


def observe(recorder: Any, module: str, code: FunctionType, off: Mapping[str, str], reason: str = "") -> None:
    """Observes both aspects and records them. `module` is imported, and then `code` makes an array on the target. `off`
    are the variables that turn preallocation off; if there are none, `reason` says why."""
    target = recorder.stack.case.target
    if target == "tpu":
        for aspect in ("default", "off"):
            recorder.lacks(aspect, "only one process at a time can hold a TPU, and the probe's own does")
        return
    plain = {name: value for name, value in os.environ.items() if name not in SETTINGS}
    recorder.record("default", code, **run_fresh(plain, module, code, target))
    if off:
        words = " ".join(f"{name}={value}" for name, value in off.items())
        recorder.record("off", code, words=words, **run_fresh({**plain, **off}, module, code, target))
    else:
        recorder.lacks("off", reason)


def run_fresh(environ: Mapping[str, str], module: str, code: FunctionType, target: str) -> dict[str, float]:
    """The figures of `memory_taken` in a fresh interpreter of this environment."""
    command = [sys.executable, __file__, code.__code__.co_filename, code.__name__, module, target]
    done = subprocess.run(command, env=environ, check=True, stdout=subprocess.PIPE, text=True)
    figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])  # the framework may print other lines before
    return figures


def memory_taken(module: str, first_array: Callable[[str], Any], target: str) -> dict[str, float]:
    """The figures of this process's memory: before the framework's import, after it, and with one array on the
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
        figures["share"] = after / kilobytes(Path("/proc/meminfo"), "MemTotal")
    del array  # it must exist until here
    return figures


def status(field: str) -> float:
    return kilobytes(Path("/proc/self/status"), field)


def kilobytes(file: Path, field: str) -> float:
    """The bytes in a line like `field:   123 kB`."""
    match = re.search(rf"^{field}:\s+(\d+) kB", file.read_text(encoding="ascii", errors="replace"), re.MULTILINE)
    if match is None:
        raise RuntimeError(f"{file} has no {field}")
    return 1024.0 * int(match[1])


def gpu() -> tuple[float, float]:
    """(bytes in use by any process, all bytes) of the first GPU that this process may use."""
    first = os.environ.get("CUDA_VISIBLE_DEVICES", "0").split(",")[0]
    command = ["nvidia-smi", f"--id={first}", "--query-gpu=memory.used,memory.total", "--format=csv,noheader,nounits"]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    used, total = done.stdout.splitlines()[0].split(", ")
    return 2.0**20 * int(used), 2.0**20 * int(total)


if __name__ == "__main__":
    file, name, module, target = sys.argv[1:]
    names: dict[str, Any] = {}
    exec(Path(file).read_text(encoding="utf-8"), names)  # not by runpy, whose imports would count as the framework's
    print(json.dumps(memory_taken(module, names[name], target)))
