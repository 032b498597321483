"""What this machine has and lacks, each lack with its remedy."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from docker.errors import DockerException

from suite import environments, facts, images
from suite.errors import UserError
from suite.launch import cgroup

GIB = 2**30
DISK_BYTES = 12 * GIB  # all environments of one target; PyTorch 2.9 brings its CUDA libraries
RESULTS_BYTES = GIB // 4  # a run's own files, once the environments are made
MEMORY_BYTES = 4 * GIB
TRIAL_BYTES = 64 * 2**20
# Inductor compiles kernels with OpenMP and loads them as modules of Python: both must build.
PROBE = "#include <Python.h>\n#include <omp.h>\nint main() { return omp_get_max_threads() < 1; }\n"


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
    uv = find_uv()
    compiler, complaint = probe_compiler(os.environ.get("CXX"))
    found = [
        Check("platform", problem is None, problem or "Linux on x86-64", "use a Linux machine on x86-64"),
        Check("Python", sys.version_info[:2] == environments.PYTHON_VERSION, platform.python_version(),
              "install Python 3.11, then `make setup PYTHON=/path/to/python3.11`"),
        Check("uv", uv is not None, uv or "not found", "make setup (it gets uv by pip)"),
        Check("make", shutil.which("make") is not None, shutil.which("make") or "not found", "apt-get install make"),
        Check("C++ compiler (torch_inductor)", compiler is not None, compiler or complaint,
              "apt-get install g++ (and python3.11-dev, if Python is the system's)"),
    ]  # fmt: skip
    for name in (environments.ORCHESTRATOR, *environments.names("cpu")):
        status = environments.status(name, "cpu")
        remedy = f"invoke lock --environment={name}" if status == "no lock" else "make setup"
        found.append(Check(f"environment {name}", status == "ready", status, remedy))
    found += [*resources(), container_engine()]
    return [*found, *(Check(name, None, lack or "found") for name, lack in devices().items())]


def container_engine() -> Check:
    """Whether cases can run in containers, with which images."""
    try:
        client = images.connect()
        ready = [image.tag.partition(":")[0] for image in images.built(client) if image.current]
    except (UserError, DockerException) as missing:
        return Check("Docker", None, str(missing), "apt-get install docker.io; without it cases run locally")
    found = f"engine {client.version()['Version']}; images: {', '.join(ready) or 'none yet (invoke build)'}"
    return Check("Docker", None, found)


def resources() -> list[Check]:
    """Disk, memory, cores and what disturbs a measurement."""
    free, available = shutil.disk_usage(environments.ROOT).free, facts.memory().get("available_bytes")
    cores, load = facts.usable_cores(), os.getloadavg()[0]
    made = all(environments.status(name, "cpu") == "ready" for name in environments.names("cpu"))
    wanted = RESULTS_BYTES if made else DISK_BYTES
    governor = facts.read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
    return [
        Check("disk", free > wanted, f"{free / GIB:.1f} GiB free", f"free {wanted / GIB:g} GiB; `invoke clean` helps"),
        Check("memory", None if available is None else available > MEMORY_BYTES,
              "hidden" if available is None else f"{available / GIB:.1f} GiB available", "close other programs"),
        Check("memory limits", None, memory_limits()),
        Check("cores", None, f"{len(cores)} usable: {', '.join(map(str, cores))}"),
        Check("load", None, f"{load:.2f} over the last minute on {len(cores)} cores", "stop what else is running"),
        Check("frequency governor", None if governor is None else governor == "performance", governor or "hidden",
              "cpupower frequency-set --governor performance"),
    ]  # fmt: skip


def memory_limits() -> str:
    """What enforces --limit-memory here: found out by trying, since a writable folder may still refuse a limit."""
    group = cgroup.create(TRIAL_BYTES)
    if group is None:
        return "by a watchdog on resident memory (no cgroup can be made here)"
    group.remove()
    return f"by the kernel (cgroup version {group.version})"


def find_uv() -> str | None:
    """The uv that would make environments; None where pip has to get it first."""
    return next((uv for uv in environments.uv_places() if environments.runs(uv)), None)


def find_compiler() -> str | None:
    """The C++ compiler that Inductor will take, if it builds what Inductor builds; None without one."""
    return probe_compiler(os.environ.get("CXX"))[0]


@lru_cache(maxsize=4)
def probe_compiler(named: str | None) -> tuple[str | None, str]:
    """`named` (CXX) or else g++, as Inductor looks for it: its path, or None and the complaint."""
    compiler = shutil.which(named or "g++")
    if compiler is None:
        return None, f"{named or 'g++'} was not found"
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder) / "probe.cpp", Path(folder) / "probe"
        source.write_text(PROBE, encoding="ascii")
        headers = f"-I{sysconfig.get_path('include')}"
        for command in ([compiler, "-fopenmp", headers, str(source), "-o", str(program)], [str(program)]):
            try:
                done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
            except OSError as broken:
                return None, f"{command[0]} can't be run: {broken}"
            if done.returncode != 0:
                complaint = next((line for line in done.stderr.splitlines() if "error" in line), "")
                return None, f"{compiler} doesn't build OpenMP modules of Python. {complaint}".strip()
    return compiler, ""


@lru_cache(maxsize=1)
def devices() -> dict[str, str | None]:
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
