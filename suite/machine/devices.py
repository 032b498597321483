"""Finds out for which targets this machine has the hardware, and asks NVIDIA's driver about its GPUs."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from suite.machine import facts

DRIVER_SECONDS = 20  # within which the driver's programs must answer
# What a set keeps of a GPU, by nvidia-smi's names: in machine.json what stays, in each row what changes.
STAYS = {
    "name": "name",
    "driver": "driver_version",
    "memory_mib": "memory.total",
    "sm_mhz_max": "clocks.max.sm",
    "power_limit_watts": "power.limit",
    "ecc": "ecc.mode.current",
    "mig": "mig.mode.current",
}
CHANGES = {
    "sm_mhz": "clocks.sm",
    "memory_mhz": "clocks.mem",
    "watts": "power.draw",
    "celsius": "temperature.gpu",
    "slowed_by": "clocks_throttle_reasons.active",
    "sm_mhz_max": "clocks.max.sm",
}
# Of `slowed_by`, by NVML's nvmlClocksThrottleReasons: the clock is low since there is no work, since somebody set it,
# or since the card is at its power limit.
CHOSEN = 0x1 | 0x2 | 0x4
# Slowed by hardware, by heat, or by the power supply. To be held at the power limit is normal for large products.
SLOWED = 0x8 | 0x20 | 0x40 | 0x80
CLOCK_SHARE_MIN = 0.75  # of its highest clock; a GPU below it without such a reason is slowed


@lru_cache(maxsize=1)
def missing() -> dict[str, str | None]:
    """Returns {target: what this machine lacks for it}; None for targets that can run."""
    gpu = Path("/dev/nvidia0").exists() or any(Path("/proc/driver/nvidia/gpus").glob("*"))
    cuda = None if gpu else "no NVIDIA GPU was found (/dev/nvidia0); install its driver or use a GPU machine"
    if gpu and not answers(["nvidia-smi", "--list-gpus"]):
        cuda = "this machine has an NVIDIA GPU, but nvidia-smi doesn't list it; install or reload its driver"
    return {
        "cpu": None,
        "cuda": cuda,
        "tpu": None if has_tpu() else "no TPU was found (/dev/accel0 or /dev/vfio/0); use a TPU VM",
    }


def has_tpu() -> bool:
    """Whether a TPU's device file exists. Other devices use VFIO too, so one PCI device must be Google's."""
    google = any(facts.read(str(path)) == "0x1ae0" for path in Path("/sys/bus/pci/devices").glob("*/vendor"))
    return any(Path("/dev").glob("accel*")) or (google and any(Path("/dev/vfio").glob("[0-9]*")))


def gpus() -> list[dict[str, Any]]:
    """Returns what stays of each NVIDIA GPU, in the driver's order; nothing where no driver answers."""
    return asked(STAYS)


def machine(target: str, name: str = "") -> dict[str, Any]:
    """Returns `facts.machine(name)`, with the GPUs if they are the target."""
    return facts.machine(name) | ({"gpus": gpus()} if target == "cuda" else {})


def gpu_state() -> dict[str, Any]:
    """Returns what changes of the first GPU that this process may use; empty where no driver answers."""
    first = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")[0] or "0"
    return next(iter(asked(CHANGES, f"--id={first}")), {})


def slowed(state: Mapping[str, Any]) -> bool:
    """Whether a GPU that was at work until now was slower than it should be."""
    told = str(state.get("slowed_by"))
    reasons = int(told, 16) if re.fullmatch(r"0x[0-9a-fA-F]+", told) else 0
    clock, most = state.get("sm_mhz"), state.get("sm_mhz_max")
    low = isinstance(clock, float) and isinstance(most, float) and clock < CLOCK_SHARE_MIN * most
    return bool(reasons & SLOWED) or (low and not reasons & CHOSEN)


def asked(fields: Mapping[str, str], *options: str) -> list[dict[str, Any]]:
    """Returns the driver's answer for each GPU, by the keys of `fields`; None for what it doesn't tell."""
    query = [f"--query-gpu={','.join(fields.values())}", "--format=csv,noheader,nounits"]
    try:
        done = subprocess.run(
            ["nvidia-smi", *options, *query], capture_output=True, text=True, check=True, timeout=DRIVER_SECONDS
        )
    except (OSError, subprocess.SubprocessError):
        return []
    lines = [line.split(", ") for line in done.stdout.splitlines()]
    return [dict(zip(fields, map(value, line), strict=True)) for line in lines if len(line) == len(fields)]


def value(text: str) -> str | float | None:
    """Returns a number, or a text; None for `[N/A]`, `[Not Supported]`, `N/A`."""
    if text.startswith("[") or text in ("N/A", "ERR!"):
        return None
    return float(text) if re.fullmatch(r"\d+(\.\d+)?", text) else text


def sizes(described: Iterable[Mapping[str, Any]]) -> list[int]:
    """Returns the bytes of memory of each GPU that `gpus` describes, where the driver told them."""
    return [int(gpu["memory_mib"]) << 20 for gpu in described if gpu.get("memory_mib")]


def driver_bytes(pid: int) -> int | None:
    """Returns how many bytes of GPU memory NVIDIA's driver counts for a process, including the framework's pool and the
    CUDA context. None if the driver doesn't list the process under this id; inside a container it never does, because
    it lists processes by their ids outside."""
    try:
        done = subprocess.run(
            ["nvidia-smi", "--query-compute-apps=pid,used_memory", "--format=csv,noheader,nounits"],
            capture_output=True,
            text=True,
            check=True,
            timeout=DRIVER_SECONDS,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    used = [line.split(", ")[1] for line in done.stdout.splitlines() if line.startswith(f"{pid}, ")]
    return sum(int(mebibytes) << 20 for mebibytes in used) if used and all(map(str.isdecimal, used)) else None


def answers(command: list[str]) -> bool:
    try:
        done = subprocess.run(command, capture_output=True, check=False, timeout=DRIVER_SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0 and bool(done.stdout.strip())
