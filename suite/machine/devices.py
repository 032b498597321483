"""Which targets this machine has the hardware for."""

from __future__ import annotations

import subprocess
from functools import lru_cache
from pathlib import Path

from suite.machine import facts


@lru_cache(maxsize=1)
def missing() -> dict[str, str | None]:
    """By target, what is missing for it on this machine; None where it can run."""
    gpu = Path("/dev/nvidia0").exists() or any(Path("/proc/driver/nvidia/gpus").glob("*"))
    cuda = None if gpu else "no NVIDIA GPU was found (/dev/nvidia0); install its driver or use a GPU machine"
    if gpu and not answers(["nvidia-smi", "--list-gpus"]):
        cuda = "an NVIDIA GPU is there, but nvidia-smi doesn't list it; install or reload its driver"
    return {
        "cpu": None,
        "cuda": cuda,
        "tpu": None if has_tpu() else "no TPU was found (/dev/accel0 or /dev/vfio/0); use a TPU VM",
    }


def has_tpu() -> bool:
    """Whether a TPU's device file is there. VFIO hands on other devices too, so one must be Google's."""
    google = any(facts.read(str(path)) == "0x1ae0" for path in Path("/sys/bus/pci/devices").glob("*/vendor"))
    return any(Path("/dev").glob("accel*")) or (google and any(Path("/dev/vfio").glob("[0-9]*")))


def answers(command: list[str]) -> bool:
    """Whether a program is there, succeeds within 20 s and prints something."""
    try:
        done = subprocess.run(command, capture_output=True, check=False, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0 and bool(done.stdout.strip())
