"""The limits of the control groups (versions 1 and 2) that this process is in: its own, as a systemd scope, a batch job
or a container has, and all above it, since each may be the tightest. Standard library only.

A limit in a group that can't be seen from here (above a container's namespace) stays unknown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

PROC = Path("/proc/self")
KINDS = ("inactive", "active")  # of pages
UNLIMITED = 2**60  # bytes; version 1 writes no limit as a number above it


def mounts(mountinfo_text: str) -> Iterator[tuple[str, str, str, str]]:
    """Yields (root, mount point, file system, options) of each mount, from the text of mountinfo (proc(5))."""
    for line in filter(None, mountinfo_text.splitlines()):
        before, _, after = line.partition(" - ")
        # A space is written as \040.
        root, point = (re.sub(r"\\(\d{3})", lambda code: chr(int(code[1], 8)), word) for word in before.split(" ")[3:5])
        kind, _, options = after.split(" ", 2)
        yield root, point, kind, options


def homes(cgroup_text: str, mountinfo_text: str, controller: str = "memory") -> Iterator[tuple[str, str, int]]:
    """Yields (folder, mount point, version) of the cgroup that a process is in for a controller. The texts are those of
    /proc/PID/cgroup and /proc/PID/mountinfo."""
    paths: dict[int, str] = {}
    for line in cgroup_text.splitlines():
        _, controllers, path = line.split(":", 2)
        if controller in controllers.split(","):
            paths[1] = path
        elif not controllers:
            paths[2] = path
    for root, point, kind, options in mounts(mountinfo_text):
        version = {"cgroup": 1, "cgroup2": 2}.get(kind, 0)
        # A hybrid machine has version 2 too, but without this controller.
        if (version == 1 and controller not in options.split(",")) or (version == 2 and 1 in paths):
            continue
        folder = below(point, root, paths[version]) if version in paths else None
        if folder is not None:
            yield folder, point, version


def below(point: str, root: str, path: str) -> str | None:
    """Returns the folder of the cgroup `path` where the hierarchy from `root` on is mounted at `point`; None if `path`
    isn't below `root`."""
    root = root.rstrip("/")
    if path != root and not path.startswith(f"{root}/"):
        return None
    return point + path[len(root) :].rstrip("/")


def lineage(controller: str) -> list[tuple[Path, int]]:
    """Returns (folder, version) of this process's cgroup for a controller and of those above it, nearest first."""
    found = []
    for folder, point, version in homes(read(PROC / "cgroup"), read(PROC / "mountinfo"), controller):
        inside = Path(folder).relative_to(point)
        found += [(Path(point, place), version) for place in (inside, *inside.parents)]
    return found


def cpu_quota() -> float | None:
    """Returns the processor time that is allowed, in cores; None without a quota."""
    quotas = []
    for folder, version in lineage("cpu"):
        names = ("cpu.max",) if version == 2 else ("cpu.cfs_quota_us", "cpu.cfs_period_us")
        words = " ".join(read(folder / name) for name in names).split()
        if len(words) == 2 and words[0].isdigit():  # no quota is `max`, or -1
            quotas.append(int(words[0]) / int(words[1]))
    return min(quotas, default=None)


def throttled_periods() -> int | None:
    """Returns in how many periods so far quotas have stopped processes; None if no group counts them."""
    counts = [number(folder / "cpu.stat", "nr_throttled") for folder, _ in lineage("cpu")]
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def memory_limit() -> int | None:
    return min((limit for _, limit in limits()), default=None)


def memory_left() -> int | None:
    """Returns the bytes that still fit below every limit, when files' pages give way; None without a limit."""
    return min((max(0, limit - held_bytes(folder)) for folder, limit in limits()), default=None)


def limits() -> Iterator[tuple[Path, int]]:
    for folder, version in lineage("memory"):
        text = read(folder / ("memory.max" if version == 2 else "memory.limit_in_bytes")).strip()
        if text.isdigit() and int(text) < UNLIMITED:
            yield folder, int(text)


def held_bytes(folder: Path) -> int:
    """Returns what a group's processes hold, without pages of files."""
    used = read(folder / "memory.current") or read(folder / "memory.usage_in_bytes")
    # Version 1 counts a group's own pages and, as `total_`, those of the groups below it too.
    parts = [[number(folder / "memory.stat", f"{all_}{kind}_file") for all_ in ("total_", "")] for kind in KINDS]
    files = sum(next((count for count in counts if count is not None), 0) for counts in parts)
    return max(0, int(used or 0) - files)


def number(path: Path | str, name: str) -> int | None:
    """Returns a number of a kernel file of lines `name number`."""
    found = re.search(rf"^{name} (\d+)$", read(path), re.MULTILINE)
    return int(found[1]) if found else None


def read(path: Path | str) -> str:
    """Returns the text of a kernel file; empty where it can't be read."""
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
