"""A memory cgroup around one worker, versions 1 and 2. Standard library only, no heavy imports.

The kernel's limit is exact and immediate, where a watchdog is only as quick as its polls; and
the kernel's count of kills is the only trace that such a kill leaves.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress

PREFIX = "stack-wars-"
REMOVE_SECONDS = 1.0  # a cgroup stays busy for some milliseconds after its last process was reaped


class MemoryCgroup:
    """A cgroup with a hard memory limit, swap included. Make one with `create`."""

    def __init__(self, folder: str, version: int) -> None:
        self.folder = folder
        self.version = version

    def set_limit(self, memory_bytes: int) -> None:
        """Limit memory and swap together to `memory_bytes`. Raises OSError where refused."""
        limit = str(memory_bytes)
        if self.version == 2:
            _write(f"{self.folder}/memory.max", limit)
            _write_if_there(f"{self.folder}/memory.swap.max", "0")
            _write_if_there(f"{self.folder}/memory.oom.group", "1")
            return
        _write(f"{self.folder}/memory.limit_in_bytes", limit)
        # Without swap accounting the file is missing; then at least don't swap on purpose.
        if not _write_if_there(f"{self.folder}/memory.memsw.limit_in_bytes", limit):
            _write_if_there(f"{self.folder}/memory.swappiness", "0")

    def add(self, pid: int) -> None:
        """Move a process in; its children follow. Raises OSError where refused."""
        _write(f"{self.folder}/cgroup.procs", str(pid))

    def oom_kills(self) -> int:
        """Processes of this cgroup that the kernel has killed for memory so far."""
        return _counter(f"{self.folder}/{'memory.events' if self.version == 2 else 'memory.oom_control'}")

    def peak_bytes(self) -> int | None:
        """The largest memory use so far, page cache included; None before kernel 5.19 (version 2)."""
        name = "memory.peak" if self.version == 2 else "memory.max_usage_in_bytes"
        text = _read(f"{self.folder}/{name}").strip()
        return int(text) if text.isdigit() else None

    def anonymous_bytes(self) -> int:
        """Memory in use now that is no page cache."""
        return _counter(f"{self.folder}/memory.stat", "anon" if self.version == 2 else "total_rss")

    def refaults(self) -> int:
        """Pages of files that were pushed out for want of memory and read again so far; 0 where nobody counts them."""
        counted = ("workingset_refault_file", "workingset_refault")  # the second by kernels before 5.9
        return next((found for name in counted if (found := _counter(f"{self.folder}/memory.stat", name))), 0)

    def remove(self) -> None:
        """Remove it. One that stays busy is left for a later run's `create` to sweep."""
        until = time.monotonic() + REMOVE_SECONDS
        while not _remove(self.folder) and time.monotonic() < until:
            time.sleep(0.01)


def create(memory_bytes: int) -> MemoryCgroup | None:
    """A new cgroup with this limit, or None where this process may make none."""
    for parent, version in parents(_read("/proc/self/cgroup"), _read("/proc/self/mountinfo")):
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


class Around(MemoryCgroup):
    """The cgroup that this process is in already, whose limit somebody else has set: a container's."""

    def add(self, pid: int) -> None:
        """Its children are in it."""

    def remove(self) -> None:
        """It goes with the container."""


def around() -> MemoryCgroup | None:
    """The container's cgroup, or None where it can't be seen from inside."""
    own = next(homes(_read("/proc/self/cgroup"), _read("/proc/self/mountinfo")), None)
    return Around(own[0], own[2]) if own else None


def machine_oom_kills() -> int:
    """Out-of-memory kills on the whole machine since it started (the evidence without a cgroup)."""
    return _counter("/proc/vmstat")


def parents(cgroup_text: str, mountinfo_text: str) -> Iterator[tuple[str, int]]:
    """Folders beneath which a memory cgroup may be made, with their version, best first.

    Both arguments are the texts of the files of those names under /proc/self.
    """
    for folder, point, version in homes(cgroup_text, mountinfo_text):
        if version == 1:
            yield folder, 1
        else:
            yield from ((place, 2) for place in _parents_v2(folder, point))


def homes(cgroup_text: str, mountinfo_text: str) -> Iterator[tuple[str, str, int]]:
    """The folder of the memory cgroup that this process is in, its mount point and its version."""
    own: dict[int, str] = {}
    for line in cgroup_text.splitlines():
        _, controllers, path = line.split(":", 2)
        if "memory" in controllers.split(","):
            own[1] = path
        elif not controllers:
            own[2] = path
    for line in mountinfo_text.splitlines():
        before, _, after = line.partition(" - ")
        kind, _, options = after.split(" ", 2)
        root, point = (_unescape(word) for word in before.split(" ")[3:5])
        version = {"cgroup": 1, "cgroup2": 2}.get(kind, 0)
        # A hybrid machine has version 2 too, but without the memory controller.
        if (version == 1 and "memory" not in options.split(",")) or (version == 2 and 1 in own):
            continue
        folder = _below(point, root, own[version]) if version in own else None
        if folder is not None:
            yield folder, point, version


def _parents_v2(folder: str, mount_point: str) -> Iterator[str]:
    """Version 2 keeps processes in leaves, so a cgroup that holds this process can have limited
    children only if it is the root; else the new one goes beside it, unless that would slip
    out of a limit that somebody has put on this process."""
    if "memory" in _read(f"{folder}/cgroup.subtree_control").split() or _write_if_there(
        f"{folder}/cgroup.subtree_control", "+memory"
    ):
        yield folder
    unlimited = all(_read(f"{folder}/{name}").split()[:1] in ([], ["max"]) for name in ("memory.max", "cpu.max"))
    parent = os.path.dirname(folder)
    if unlimited and folder != mount_point and "memory" in _read(f"{parent}/cgroup.subtree_control").split():
        yield parent


def _below(point: str, root: str, path: str) -> str | None:
    """Where the cgroup `path` is seen, if the hierarchy from `root` on is mounted at `point`."""
    root = root.rstrip("/")
    if path != root and not path.startswith(f"{root}/"):
        return None
    return point + path[len(root) :].rstrip("/")


def _sweep(parent: str) -> None:
    """Remove what supervisors that were killed left behind, and end what still runs in it: it was theirs."""
    for name in os.listdir(parent):
        pid = name.removeprefix(PREFIX)
        if name != pid and pid.isdigit() and not os.path.exists(f"/proc/{pid}"):
            for left in _read(f"{parent}/{name}/cgroup.procs").split():
                with suppress(OSError):  # it has just ended by itself
                    os.kill(int(left), signal.SIGKILL)
            _remove(f"{parent}/{name}")


def _unescape(word: str) -> str:
    for code, character in ((r"\040", " "), (r"\011", "\t"), (r"\134", "\\")):
        word = word.replace(code, character)
    return word


def _counter(path: str, wanted: str = "oom_kill") -> int:
    for line in _read(path).splitlines():
        name, _, value = line.partition(" ")
        if name == wanted:
            return int(value)
    return 0


def _read(path: str) -> str:
    """The text of a file of the kernel's; empty where there is none."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def _write(path: str, text: str) -> None:
    # Unbuffered and without O_CREAT: a missing file must fail, also in a test's plain folder.
    descriptor = os.open(path, os.O_WRONLY)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)


def _write_if_there(path: str, text: str) -> bool:
    try:
        _write(path, text)
    except OSError:
        return False
    return True


def _remove(folder: str) -> bool:
    try:
        os.rmdir(folder)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True
