"""A memory cgroup around one worker, versions 1 and 2. Standard library only, no heavy imports.

The kernel enforces a limit exactly and at once; a watchdog is only as quick as its polls. The kernel's count of kills
is the only evidence that it has killed a process for memory.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress

from suite.machine.cgroups import homes, number, read

PREFIX = "stack-wars-"
REMOVE_SECONDS = 1.0  # a cgroup stays busy for some milliseconds after its last process was reaped


class MemoryCgroup:
    """A cgroup with a hard memory limit, swap included. Make one with `create`."""

    def __init__(self, folder: str, version: int) -> None:
        self.folder = folder
        self.version = version

    def set_limit(self, memory_bytes: int) -> None:
        """Limits memory and swap together to `memory_bytes`. Raises OSError if the kernel refuses."""
        limit = str(memory_bytes)
        if self.version == 2:
            _write(f"{self.folder}/memory.max", limit)
            _try_write(f"{self.folder}/memory.swap.max", "0")
            _try_write(f"{self.folder}/memory.oom.group", "1")
            return
        _write(f"{self.folder}/memory.limit_in_bytes", limit)
        # A kernel without swap accounting has no such file; a swappiness of 0 then avoids swapping at least.
        if not _try_write(f"{self.folder}/memory.memsw.limit_in_bytes", limit):
            _try_write(f"{self.folder}/memory.swappiness", "0")

    def add(self, pid: int) -> None:
        """Moves a process into the cgroup; its later children are in it too. Raises OSError if the kernel refuses."""
        _write(f"{self.folder}/cgroup.procs", str(pid))

    def oom_kills(self) -> int:
        return (
            number(f"{self.folder}/{'memory.events' if self.version == 2 else 'memory.oom_control'}", "oom_kill") or 0
        )

    def peak_bytes(self) -> int | None:
        """Returns the largest memory use so far, page cache included; None for version 2 before kernel 5.19."""
        name = "memory.peak" if self.version == 2 else "memory.max_usage_in_bytes"
        text = read(f"{self.folder}/{name}").strip()
        return int(text) if text.isdigit() else None

    def anonymous_bytes(self) -> int:
        """Returns the bytes of memory in use now, without page cache."""
        return number(f"{self.folder}/memory.stat", "anon" if self.version == 2 else "total_rss") or 0

    def refaults(self) -> int:
        """Returns how many pages of files the kernel has evicted for lack of memory and then read again; 0 if it
        doesn't count them."""
        names = ("workingset_refault_file", "workingset_refault")  # kernels before 5.9 have the second
        return next((pages for name in names if (pages := number(f"{self.folder}/memory.stat", name))), 0)

    def remove(self) -> None:
        """Removes the cgroup. If it stays busy, the `create` of a later run removes it."""
        until = time.monotonic() + REMOVE_SECONDS
        while not _remove(self.folder) and time.monotonic() < until:
            time.sleep(0.01)


def create(memory_bytes: int) -> MemoryCgroup | None:
    """Makes a cgroup with this limit; None where this process isn't allowed to."""
    for parent, version in parents(read("/proc/self/cgroup"), read("/proc/self/mountinfo")):
        group = MemoryCgroup(f"{parent}/{PREFIX}{os.getpid()}", version)
        try:
            _sweep(parent)
            os.mkdir(group.folder)
            group.set_limit(memory_bytes)
        except OSError:
            _remove(group.folder)
            continue
        return group
    return None


class ContainerCgroup(MemoryCgroup):
    """The cgroup that this process is in already: a container's, whose limit the engine has set."""

    def add(self, pid: int) -> None:
        """Does nothing: children of this process are in it."""

    def remove(self) -> None:
        """Does nothing: the cgroup ends with the container."""


def container_cgroup() -> MemoryCgroup | None:
    """Returns the container's cgroup; None where it can't be seen from inside."""
    home = next(homes(read("/proc/self/cgroup"), read("/proc/self/mountinfo")), None)
    return ContainerCgroup(home[0], home[2]) if home else None


def machine_oom_kills() -> int:
    """Returns the out-of-memory kills on the whole machine since boot: the evidence where there is no cgroup."""
    return number("/proc/vmstat", "oom_kill") or 0


def parents(cgroup_text: str, mountinfo_text: str) -> Iterator[tuple[str, int]]:
    """Yields (folder, version): folders beneath which a memory cgroup may be made, best first.

    The arguments are the texts of /proc/self/cgroup and /proc/self/mountinfo.
    """
    for folder, point, version in homes(cgroup_text, mountinfo_text):
        if version == 1:
            yield folder, 1
        else:
            yield from ((place, 2) for place in _parents_v2(folder, point))


def _parents_v2(folder: str, mount_point: str) -> Iterator[str]:
    """Yields the folders in which a cgroup of version 2 may be made. That version allows processes in leaves only, so
    the cgroup of this process can have limited children only if it is the root. Else the new cgroup is made beside that
    of this process, unless the worker would thereby escape a limit on this process."""
    if "memory" in read(f"{folder}/cgroup.subtree_control").split() or _try_write(
        f"{folder}/cgroup.subtree_control", "+memory"
    ):
        yield folder
    unlimited = all(read(f"{folder}/{name}").split()[:1] in ([], ["max"]) for name in ("memory.max", "cpu.max"))
    parent = os.path.dirname(folder)
    if unlimited and folder != mount_point and "memory" in read(f"{parent}/cgroup.subtree_control").split():
        yield parent


def _sweep(parent: str) -> None:
    """Removes cgroups of supervisors that are gone, and kills the processes that they left in them."""
    for name in os.listdir(parent):
        pid = name.removeprefix(PREFIX)
        if name != pid and pid.isdigit() and not os.path.exists(f"/proc/{pid}"):
            for leftover in read(f"{parent}/{name}/cgroup.procs").split():
                with suppress(OSError):  # it has just ended by itself
                    os.kill(int(leftover), signal.SIGKILL)
            _remove(f"{parent}/{name}")


def _write(path: str, text: str) -> None:
    # Without O_CREAT: a missing file must fail, also in a test's plain folder.
    descriptor = os.open(path, os.O_WRONLY)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)


def _try_write(path: str, text: str) -> bool:
    try:
        _write(path, text)
    except OSError:
        return False
    return True


def _remove(folder: str) -> bool:
    with suppress(OSError):
        os.rmdir(folder)
    return not os.path.exists(folder)
