"""Lists, weighs, kills and reaps all descendants of this process, through /proc.

This process must be a child subreaper: then every process that a worker starts stays a descendant, even after double
forks and in other sessions. Standard library only.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable

from suite.machine import processes

KILL_SECONDS = 10.0  # a process that outlives SIGKILL by this much hangs in the kernel
PAUSE_SECONDS = (0.002, 0.05)  # the first and the longest pause between two rounds of killing
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
HAS_CHILDREN_FILES = os.path.exists(f"/proc/{os.getpid()}/task/{os.getpid()}/children")


class Tree:
    """The descendants of this process, among them one worker."""

    def __init__(self) -> None:
        self.worker = 0
        self.status: int | None = None  # the worker's wait status, once it has ended

    def reap(self) -> bool:
        """Reaps every ended child. True while any child is left."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            if pid == self.worker:
                self.status = status

    def kill(self) -> int:
        """Kills all descendants with SIGKILL until no child is left; returns how many outlived SIGKILL.

        Children of a killed process become children of this process, so a later round kills them.
        """
        until = time.monotonic() + KILL_SECONDS
        pause, longest = PAUSE_SECONDS
        while self.reap():
            pids = descendants(os.getpid())
            for pid in pids:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    continue
            if time.monotonic() > until:
                return len(pids)
            time.sleep(pause)
            pause = min(2 * pause, longest)
        return 0


def descendants(root: int) -> list[int]:
    return processes.descendants(root, processes.children if HAS_CHILDREN_FILES else _children_by_scan())


def resident_bytes(pids: list[int]) -> int:
    """Returns the sum of resident memory; a page that several processes share counts once for each. Quick."""
    return sum(_resident(pid) for pid in pids)


def proportional_bytes(pids: list[int]) -> int:
    """Returns the sum of memory with shared pages divided among their users. Slow, because the kernel walks the page
    tables, so it isn't called at every look."""
    return sum(_proportional(pid) for pid in pids)


def _children_by_scan() -> Callable[[int], list[int]]:
    """Returns a function like `processes.children` for kernels without `children` files, from one scan of /proc."""
    table: dict[int, list[int]] = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            table.setdefault(int(processes.stat(name)[1]), []).append(int(name))
        except OSError:
            continue
    return lambda pid: table.get(pid, [])


def _resident(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * PAGE_BYTES
    except (OSError, IndexError):
        return 0


def _proportional(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/smaps_rollup", encoding="ascii", errors="replace") as file:
            return sum(int(line.split()[1]) * 1024 for line in file if line.startswith("Pss:"))
    except FileNotFoundError:
        return _resident(pid)  # kernels before 4.14
    except OSError:
        return 0
