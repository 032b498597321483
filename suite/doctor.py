"""What this machine has and lacks, each lack with its remedy."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from suite import environments, facts

GIB = 2**30
DISK_BYTES = 12 * GIB  # all environments of one target; PyTorch 2.9 brings its CUDA libraries
MEMORY_BYTES = 4 * GIB
OPENMP = "#include <omp.h>\nint main() { return omp_get_max_threads() < 1; }\n"


@dataclass(frozen=True, slots=True)
class Check:
    """One finding. `ok` None: a fact, neither good nor bad."""

    name: str
    ok: bool | None
    found: str
    remedy: str = ""


def platform_problem(system: str | None = None, machine: str | None = None) -> str | None:
    """The one line that says where Stack Wars runs, or None here."""
    system, machine = system or platform.system(), machine or platform.machine()
    if (system, machine) == ("Linux", "x86_64"):
        return None
    return f"Stack Wars runs on Linux on x86-64; this is {system} on {machine}."


def checks() -> list[Check]:
    """Every finding, most basic first."""
    problem = platform_problem()
    uv = shutil.which("uv") or shutil.which("uv", path=str(environments.ROOT / ".venv" / "bin"))
    compiler = find_compiler()
    found = [
        Check("platform", problem is None, problem or "Linux on x86-64", "use a Linux machine on x86-64"),
        Check("Python", sys.version_info[:2] == (3, 11), platform.python_version(), "install Python 3.11"),
        Check("uv", uv is not None, uv or "not found", "pip install uv (make setup does it)"),
        Check("make", shutil.which("make") is not None, shutil.which("make") or "not found", "apt-get install make"),
        Check("C++ compiler (torch_inductor)", compiler is not None, compiler or "none that builds OpenMP",
              "apt-get install g++"),
    ]  # fmt: skip
    for name in environments.names("cpu"):
        status = environments.status(name, "cpu")
        found.append(Check(f"environment {name}", status == "ready", status, "make setup"))
    return found + resources() + [Check(t, None, lack or "found") for t, lack in devices().items()]


def resources() -> list[Check]:
    """Disk, memory, cores and what disturbs a measurement."""
    free, memory = shutil.disk_usage(environments.ROOT).free, facts.memory()
    available = memory.get("available_bytes", 0)
    cores, load = facts.usable_cores(), os.getloadavg()[0]
    waiting = [name for name in environments.names("cpu") if environments.status(name, "cpu") != "ready"]
    governor = facts.read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
    return [
        Check("disk", not waiting or free > DISK_BYTES, f"{free / GIB:.0f} GiB free", "free 12 GiB"),
        Check("memory", available > MEMORY_BYTES, f"{available / GIB:.1f} GiB available", "close other programs"),
        Check("cores", None, f"{len(cores)} usable: {cores}"),
        Check("load", load < 0.5 * len(cores) + 0.5, f"{load:.2f} over the last minute", "stop what else is running"),
        Check("frequency governor", None if governor is None else governor == "performance", governor or "hidden",
              "cpupower frequency-set --governor performance"),
        Check("memory limits", None, "by cgroup" if cgroup_writable() else "by a watchdog on resident memory"),
    ]  # fmt: skip


def cgroup_writable() -> bool:
    """Whether a memory cgroup can be made beneath our own."""
    own = dict(line.split(":")[1:] for line in (facts.read("/proc/self/cgroup") or "").splitlines())
    places = [f"/sys/fs/cgroup/memory{own['memory']}"] if "memory" in own else [f"/sys/fs/cgroup{own.get('', '/')}"]
    return any(os.access(place, os.W_OK) for place in places)


@lru_cache(maxsize=1)
def find_compiler() -> str | None:
    """The first C++ compiler that builds and runs an OpenMP program, as Inductor needs; None without one."""
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder) / "probe.cpp", Path(folder) / "probe"
        source.write_text(OPENMP, encoding="ascii")
        for name in (os.environ.get("CXX"), "g++", "clang++", "c++"):
            compiler = shutil.which(name) if name else None
            if compiler and all(
                subprocess.run(command, capture_output=True, check=False).returncode == 0
                for command in ([compiler, "-fopenmp", str(source), "-o", str(program)], [str(program)])
            ):
                return compiler
    return None


def devices() -> dict[str, str | None]:
    """By target, what is missing for it on this machine; None where it can run."""
    gpu = Path("/dev/nvidia0").exists() or bool(list(Path("/proc/driver/nvidia/gpus").glob("*")))
    tpu = bool(list(Path("/dev").glob("accel*")) or list(Path("/dev/vfio").glob("[0-9]*")))
    return {
        "cpu": None,
        "cuda": None if gpu else "no NVIDIA GPU was found (/dev/nvidia0); install its driver or use a GPU machine",
        "tpu": None if tpu else "no TPU was found (/dev/accel0 or /dev/vfio/0); use a TPU VM",
    }
