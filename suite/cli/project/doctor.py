"""`./stackwars doctor`: lists what this machine has and what it lacks, with a remedy for everything it lacks."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from dataclasses import asdict, dataclass

from docker.errors import DockerException

from suite.cli.terminal.output import print_json, print_table
from suite.cli.values import Json
from suite.environments import ROOT, images, pythons, uv, venv
from suite.environments.locks import ORCHESTRATOR, Locks, all_locks, names, newest, variants
from suite.errors import COMMAND, UNPACKED, UserError
from suite.launch.supervisor import cgroup
from suite.machine import cgroups, compiler, devices, facts
from suite.machine.description import describe
from suite.results.outcomes import FAILED
from suite.run import ceilings

GIB = 2**30
DISK_BYTES = 12 * GIB  # all environments of one target; PyTorch 2.9 brings its CUDA libraries
RESULTS_BYTES = GIB // 4  # the files of a run; all that is needed once the environments are made
MEMORY_BYTES = 4 * GIB
TRIAL_BYTES = 64 * 2**20


@dataclass(frozen=True, slots=True)
class Check:
    """One check of this machine: what was `found`, whether that is `ok` (None: it is neither good nor bad), and the
    remedy if it isn't."""

    name: str
    ok: bool | None
    found: str
    remedy: str = ""


def checks() -> list[Check]:
    compiler_found, complaint = compiler.probe(os.environ.get("CXX"))
    headers = "apt-get install g++ (and the headers of the torch lock's Python, if that is the system's Python)"
    listed = [
        platform_check(),
        *interpreters(),
        needed("uv", next(filter(uv.runs, uv.uv_places()), None), f"`{COMMAND} setup` (it gets uv by pip)"),
        *([] if UNPACKED.is_file() else [needed("make", shutil.which("make"), "apt-get install make")]),
        needed("C++ compiler (torch_inductor)", compiler_found, headers, complaint),
    ]
    locks = venv.fitting(names("cpu"), Locks("cpu"))
    for name in (ORCHESTRATOR, *names("cpu")):
        fallback, status = venv.fallback(name, locks), venv.status(locks.of(name))
        remedy = f".venv/bin/python -m tools.lock --environment={name}" if status == "no lock" else f"{COMMAND} setup"
        listed.append(
            Check(f"environment {name}", status == "ready", f"{status}, {fallback}" if fallback else status, remedy)
        )
    listed += [*resources(), container_engine()]
    return [*listed, *(Check(name, None, lack or "found") for name, lack in devices.missing().items())]


def needed(name: str, path: str | None, remedy: str, lack: str = "not found") -> Check:
    return Check(name, path is not None, path or lack, remedy)


def platform_check() -> Check:
    try:
        facts.refuse_platform()
    except UserError as refused:
        return Check("platform", ok=False, found=str(refused), remedy="use a Linux machine on x86-64")
    return Check("platform", ok=True, found="Linux on x86-64")


def interpreters() -> list[Check]:
    """Returns a check of the Python that runs this program, and one for each Python of a lock. The Python of a lock is
    needed only if this machine has no Python of any other lock of the same environment."""
    wanted: dict[str, list[str]] = {}
    for name in (*names("cpu"), *variants("cpu")):
        for lock in all_locks(name, "cpu"):
            wanted.setdefault(lock.python, []).append(name)
    ours = newest(ORCHESTRATOR, "cpu").pythons
    paths = {version: pythons.find(version) for version in sorted(wanted)}
    needed = {name for name in names("cpu") if pythons.lacking(name, "cpu")}
    return [
        Check(
            f"Python {' or '.join(ours)}",
            pythons.running() in ours,
            platform.python_version(),
            f"install Python {ours[0]}, then `make setup PYTHON=/path/to/python{ours[0]}`",
        ),
        *(
            Check(
                f"Python {version} ({', '.join(wanted[version])})",
                True if path else False if needed & set(wanted[version]) else None,
                path or "not found",
                f"`{COMMAND} setup`: uv installs it. If that fails: {pythons.remedy(version)}",
            )
            for version, path in paths.items()
        ),
    ]


def container_engine() -> Check:
    try:
        client = images.connect()
        ready = [image.tag.partition(":")[0] for image in images.built(client) if image.current]
    except (UserError, DockerException) as missing:
        return Check("Docker", None, str(missing), "apt-get install docker.io; without it cases run locally")
    listed = ", ".join(ready) or f"none yet ({COMMAND} build)"
    return Check("Docker", None, f"engine {client.version()['Version']}; images: {listed}")


def resources() -> list[Check]:
    """Returns the checks of disk, memory and cores, and of load and frequency, which disturb a measurement."""
    free, memory = shutil.disk_usage(ROOT).free, facts.memory()
    available, allowed = memory.get("available_bytes"), memory.get("memory_limit_bytes")
    quota = cgroups.cpu_quota()
    cores, load = facts.usable_cores(), os.getloadavg()[0]
    ready = all(venv.status(venv.fit(name, "cpu")) == "ready" for name in names("cpu"))
    wanted = RESULTS_BYTES if ready else DISK_BYTES
    governor = facts.read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
    return [
        Check("disk", free > wanted, f"{free / GIB:.1f} GiB free", f"free {wanted / GIB:g} GiB; `make clean` helps"),
        Check(
            "memory",
            None if available is None else available > MEMORY_BYTES,
            "hidden"
            if available is None
            else f"{available / GIB:.1f} GiB available"
            + (f" of the {allowed / GIB:.3g} GiB that this program is allowed" if allowed else ""),
            "close other programs, or raise the limit on this one" if allowed else "close other programs",
        ),
        Check("memory limits", None, memory_limits()),
        Check(
            "cores",
            None,
            f"{len(cores)} usable: {', '.join(map(str, cores))}" + (f"; a quota of {quota:.3g} cores" if quota else ""),
            "a quota stops processes in mid-step: give this program whole cores" if quota else "",
        ),
        Check("load", None, f"{load:.2f} over the last minute on {len(cores)} cores", "stop other programs"),
        Check(
            "frequency governor",
            None if governor is None else governor == "performance",
            governor or "hidden",
            "cpupower frequency-set --governor performance",
        ),
    ]


def memory_limits() -> str:
    """Returns what enforces --limit-memory here. To find out it makes a cgroup with a limit, since the kernel may allow
    the cgroup but refuse the limit."""
    group = cgroup.create(TRIAL_BYTES)
    if group is None:
        return "enforced by a watchdog on resident memory (no cgroup can be made here)"
    group.remove()
    return f"enforced by the kernel (cgroup version {group.version})"


def doctor(*, json: Json = False) -> int:
    """Prints what this machine has and lacks. Returns the exit code: 3 if something needed is missing."""
    findings = checks()
    described = describe(facts.machine(), ceilings.reading(tuple(facts.usable_cores())))
    missing = [check.name for check in findings if check.ok is False]
    if json:
        print_json({"machine": described, "missing": missing, "checks": [asdict(check) for check in findings]})
        return FAILED if missing else 0
    word = {True: "ok", False: "MISSING", None: "fact"}
    rows = [[check.name, word[check.ok], check.found, "" if check.ok else check.remedy] for check in findings]
    print_table("This machine", ["check", "verdict", "found", "remedy"], rows)
    print(f"The machine, as published figures name it: {described}\n")
    print(f"Missing: {', '.join(missing)}." if missing else "Nothing is missing.", file=sys.stderr)
    return FAILED if missing else 0
