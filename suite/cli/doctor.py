"""What this machine has and lacks, each lack with its remedy."""

from __future__ import annotations

import os
import platform
import shutil
from dataclasses import dataclass

from docker.errors import DockerException

from suite.environments import ROOT, images, pythons, uv, venv
from suite.environments.locks import (
    ORCHESTRATOR,
    all_locks,
    lock_path,
    names,
    python_of_lock,
    pythons_of_lock,
    variants,
)
from suite.errors import COMMAND, UserError
from suite.launch import cgroup
from suite.machine import compiler, devices, facts

GIB = 2**30
DISK_BYTES = 12 * GIB  # all environments of one target; PyTorch 2.9 brings its CUDA libraries
RESULTS_BYTES = GIB // 4  # a run's own files, once the environments are made
MEMORY_BYTES = 4 * GIB
TRIAL_BYTES = 64 * 2**20


@dataclass(frozen=True, slots=True)
class Check:
    """One finding. `ok` None: a fact, neither good nor bad."""

    name: str
    ok: bool | None
    found: str
    remedy: str = ""


def checks() -> list[Check]:
    """Every finding, most basic first."""
    uv_found = find_uv()
    compiler_found, complaint = compiler.probe(os.environ.get("CXX"))
    found = [
        platform_check(),
        *interpreters(),
        Check("uv", uv_found is not None, uv_found or "not found", "make setup (it gets uv by pip)"),
        Check("make", shutil.which("make") is not None, shutil.which("make") or "not found", "apt-get install make"),
        Check(
            "C++ compiler (torch_inductor)",
            compiler_found is not None,
            compiler_found or complaint,
            "apt-get install g++ (and the headers of the torch lock's Python, if it is the system's)",
        ),
    ]
    for name in (ORCHESTRATOR, *names("cpu")):
        fallback, status = venv.choose(name, "cpu"), venv.status(name, "cpu")
        remedy = f"{COMMAND} lock --environment={name}" if status == "no lock" else "make setup"
        found.append(
            Check(f"environment {name}", status == "ready", f"{status}, {fallback}" if fallback else status, remedy)
        )
    found += [*resources(), container_engine()]
    return [*found, *(Check(name, None, lack or "found") for name, lack in devices.missing().items())]


def platform_check() -> Check:
    """Whether Stack Wars runs here at all."""
    try:
        facts.refuse_platform()
    except UserError as refused:
        return Check("platform", ok=False, found=str(refused), remedy="use a Linux machine on x86-64")
    return Check("platform", ok=True, found="Linux on x86-64")


def interpreters() -> list[Check]:
    """The Python of this program, and those that the locks are for: needed where no other lock can be made."""
    wanted: dict[str, list[str]] = {}
    for name in (*names("cpu"), *variants("cpu")):
        for lock in all_locks(name, "cpu"):
            wanted.setdefault(python_of_lock(lock), []).append(name)
    own = pythons_of_lock(lock_path(ORCHESTRATOR, "cpu"))
    found = {version: pythons.find(version) for version in sorted(wanted)}
    needed = {name for name in names("cpu") if pythons.lacking(name, "cpu")}
    return [
        Check(
            f"Python {' or '.join(own)}",
            pythons.running() in own,
            platform.python_version(),
            f"install Python {own[0]}, then `make setup PYTHON=/path/to/python{own[0]}`",
        ),
        *(
            Check(
                f"Python {version} ({', '.join(wanted[version])})",
                True if path else False if needed & set(wanted[version]) else None,
                path or "not found",
                f"make setup lets uv get it. Else: {pythons.remedy(version)}",
            )
            for version, path in found.items()
        ),
    ]


def container_engine() -> Check:
    """Whether cases can run in containers, with which images."""
    try:
        client = images.connect()
        ready = [image.tag.partition(":")[0] for image in images.built(client) if image.current]
    except (UserError, DockerException) as missing:
        return Check("Docker", None, str(missing), "apt-get install docker.io; without it cases run locally")
    listed = ", ".join(ready) or f"none yet ({COMMAND} build)"
    return Check("Docker", None, f"engine {client.version()['Version']}; images: {listed}")


def resources() -> list[Check]:
    """Disk, memory, cores and what disturbs a measurement."""
    free, available = shutil.disk_usage(ROOT).free, facts.memory().get("available_bytes")
    cores, load = facts.usable_cores(), os.getloadavg()[0]
    made = all(venv.status(name, "cpu") == "ready" for name in names("cpu"))
    wanted = RESULTS_BYTES if made else DISK_BYTES
    governor = facts.read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
    return [
        Check(
            "disk", free > wanted, f"{free / GIB:.1f} GiB free", f"free {wanted / GIB:g} GiB; `{COMMAND} clean` helps"
        ),
        Check(
            "memory",
            None if available is None else available > MEMORY_BYTES,
            "hidden" if available is None else f"{available / GIB:.1f} GiB available",
            "close other programs",
        ),
        Check("memory limits", None, memory_limits()),
        Check("cores", None, f"{len(cores)} usable: {', '.join(map(str, cores))}"),
        Check("load", None, f"{load:.2f} over the last minute on {len(cores)} cores", "stop what else is running"),
        Check(
            "frequency governor",
            None if governor is None else governor == "performance",
            governor or "hidden",
            "cpupower frequency-set --governor performance",
        ),
    ]


def memory_limits() -> str:
    """What enforces --limit-memory here: found out by trying, since a writable folder may still refuse a limit."""
    group = cgroup.create(TRIAL_BYTES)
    if group is None:
        return "by a watchdog on resident memory (no cgroup can be made here)"
    group.remove()
    return f"by the kernel (cgroup version {group.version})"


def find_uv() -> str | None:
    """The uv that would make environments; None where pip has to get it first."""
    return next((place for place in uv.uv_places() if uv.runs(place)), None)
