"""Finds out for which targets this machine has the hardware."""

from __future__ import annotations

import subprocess
from functools import lru_cache
from pathlib import Path

from suite.machine import facts

DRIVER_SECONDS = 20  # within which the driver's programs must answer


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
