"""`./stackwars doctor`: lists what this machine has and what it lacks, with a remedy for everything it lacks."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from dataclasses import asdict
from pathlib import Path

from docker.errors import DockerException

from suite.answers.device_checks import Check
from suite.answers.environment import own_versions
from suite.case import TARGETS
from suite.cli.project.device import check_device
from suite.cli.project.pack import pack as write_pack
from suite.cli.terminal.output import print_json, print_table
from suite.cli.values import Json, ResultsFolder
from suite.environments import ROOT, images, pythons, releases, uv, venv
from suite.environments.locks import ORCHESTRATOR, Locks, all_locks, names, newest, variants
from suite.errors import COMMAND, UNPACKED, UserError, check_known
from suite.launch.supervisor import cgroup
from suite.machine import cgroups, compiler, devices, facts, limits
from suite.machine.description import cores as cores_of
from suite.machine.description import describe, gpu
from suite.order import natural
from suite.results.outcomes import FAILED
from suite.run import ceilings
from suite.stacks.catalog import without_requested

GIB = 2**30
DISK_BYTES = 18 * GIB  # all environments of one target; PyTorch 2.15 and 2.9 each bring their CUDA libraries
RESULTS_BYTES = GIB // 4  # the files of a run; all that is needed once the environments are made
MEMORY_BYTES = 4 * GIB
TRIAL_BYTES = 64 * 2**20


def checks(target: str = "cpu") -> list[Check]:
    compiler_found, complaint = compiler.probe(os.environ.get("CXX"))
    headers = "apt-get install g++ (and the headers of the torch lock's Python, if that is the system's Python)"
    listed = [
        platform_check(),
        *interpreters(target),
        needed("uv", next(filter(uv.runs, uv.uv_places()), None), f"`{COMMAND} setup` (it gets uv by pip)"),
        *([] if UNPACKED.is_file() else [needed("make", shutil.which("make"), "apt-get install make")]),
        needed("C++ compiler (torch_inductor)", compiler_found, headers, complaint),
    ]
    wanted = without_requested(names(target))
    locks = venv.fitting(wanted, Locks(target))
    for name in (ORCHESTRATOR, *wanted):
        lock = locks.of(name)
        fallback, status, smaller = venv.fallback(name, locks), venv.status(lock), venv.smaller(lock)
        remedy = f".venv/bin/python -m tools.lock --environment={name}" if status == "no lock" else f"{COMMAND} setup"
        remedy += "" if target == "cpu" or name == ORCHESTRATOR else f" --target={target}"
        remedy += f"; {smaller}" if smaller else ""
        own = (f"{package} {releases.dated(package, version)}" for package, version in own_versions(name, lock.pins))
        found = ", ".join(filter(None, [status, *own, fallback]))
        listed.append(Check(f"environment {name}", status == "ready", found, remedy))
    listed += [*resources(target), container_engine()]
    return [*listed, *(device(name, lack, wanted=name == target) for name, lack in devices.missing().items())]


def device(target: str, lack: str | None, *, wanted: bool) -> Check:
    """Returns the check of one target's hardware; a mere fact unless it is wanted."""
    found = "; ".join(map(gpu, devices.gpus())) if target == "cuda" and not lack else ""
    return Check(target, (not lack) if wanted else None, lack or found or "found", f"use a machine with a {target}")


def needed(name: str, path: str | None, remedy: str, lack: str = "not found") -> Check:
    return Check(name, path is not None, path or lack, remedy)


def platform_check() -> Check:
    try:
        return Check("platform", ok=True, found=facts.refuse_platform())
    except UserError as refused:
        return Check("platform", ok=False, found=str(refused), remedy="use a Linux machine on x86-64 or 64-bit ARM")


def interpreters(target: str) -> list[Check]:
    """Returns a check of the Python that runs this program, and one for each Python of a lock. The Python of a lock is
    needed only if this machine has no Python of any other lock of the same environment."""
    wanted: dict[str, list[str]] = {}
    for name in (*names(target), *variants(target)):
        for lock in all_locks(name, target):
            wanted.setdefault(lock.python, []).append(name)
    ours = newest(ORCHESTRATOR, "cpu").pythons
    paths = {version: pythons.find(version) for version in sorted(wanted, key=natural)}
    needed = {name for name in without_requested(names(target)) if pythons.lacking(name, target)}
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


def resources(target: str) -> list[Check]:
    """Returns the checks of disk, memory and cores, and of load and frequency, which disturb a measurement."""
    free, memory = shutil.disk_usage(ROOT).free, facts.memory()
    available, allowed = memory.get("available_bytes"), memory.get("memory_limit_bytes")
    quota = cgroups.cpu_quota()
    cores, load = facts.usable_cores(), os.getloadavg()[0]
    ready = all(venv.status(venv.fit(name, target)) == "ready" for name in without_requested(names(target)))
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
        Check("limits of this shell", None, limits.said(limits.limits()) or "none", " ".join(limits.warnings())),
        Check(
            "cores",
            None,
            f"{cores_of(facts.machine())}; usable: {', '.join(map(str, cores))}",
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


def doctor(
    *,
    target: str = "cpu",
    device: str | None = None,
    python: str | None = None,
    pack: str | None = None,
    results: ResultsFolder = "results",
    json: Json = False,
) -> int:
    """Prints what this machine has and lacks for a target; or checks a device. Returns the exit code: 3 if something
    needed is missing, or a check fails.

    :param target: hardware class: cpu, cuda or tpu
    :param device: run small checks on this target: stacks, clock, precision, memory, noise; ten minutes at most
    :param python: for --device, an interpreter of your own in place of the locked environments
    :param pack: a folder for an archive that runs --device without a network, on the Python that --python names
    """
    check_known("target", target, TARGETS)
    if pack is not None:
        print(write_pack(Path(pack), python))
        return 0
    if device is not None:
        check_known("target", device, TARGETS, of="--device")
        return check_device(device, python, Path(results) / "device", as_json=json)
    findings = checks(target)
    described = describe(facts.machine() | {"gpus": devices.gpus()}, ceilings.reading(tuple(facts.usable_cores())))
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
