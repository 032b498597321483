"""Stops and continues all processes of a sandbox: by a control group where one can be made, else by signals."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import ClassVar

from suite.launch.supervisor.spawn import PR_SET_CHILD_SUBREAPER, prctl
from suite.machine import processes
from suite.machine.cgroups import PROC, homes, read

FREEZE_SECONDS = 10.0  # a process that hangs in the kernel can't be stopped
PREFIX = "stack-wars-judge-"
TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


class Group:
    """A control group (version 2). Whatever its processes start is in it, and they can't leave it: they see no group's
    files. `counts` says in words what `seconds` counts."""

    counts = "all that it started, by a control group"

    def __init__(self, pid: int) -> None:
        """Puts a process, which must have started nothing yet, into a new group. Raises OSError where none can be
        made."""
        found = next(homes(read(PROC / "cgroup"), read(PROC / "mountinfo"), "freeze"), None)
        if found is None:
            raise FileNotFoundError("no control groups of version 2")
        self.folder = Path(found[0], f"{PREFIX}{pid}")
        for left in self.folder.parent.glob(f"{PREFIX}*"):
            with suppress(OSError):  # it isn't empty: another judge's
                left.rmdir()
        self.folder.mkdir()
        try:
            (self.folder / "cgroup.procs").write_text(str(pid), encoding="ascii")
            self.switch = os.open(self.folder / "cgroup.freeze", os.O_RDWR | os.O_CLOEXEC)
            self.events = os.open(self.folder / "cgroup.events", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            with suppress(OSError):
                self.folder.rmdir()
            raise

    def thaw(self) -> None:
        os.write(self.switch, b"0")

    def freeze(self) -> None:
        """Returns when nothing of the group runs. Raises TimeoutError."""
        os.write(self.switch, b"1")
        until = time.monotonic() + FREEZE_SECONDS
        while b"frozen 1" not in os.pread(self.events, 256, 0):
            if time.monotonic() > until:
                raise TimeoutError("its processes can't be stopped")
            time.sleep(1e-5)

    def seconds(self) -> float:
        """Returns the processor time of all that was started, also of what has ended."""
        return int(read(self.folder / "cpu.stat").split()[1]) / 1e6

    def pids(self) -> list[int]:
        return list(map(int, read(self.folder / "cgroup.procs").split()))

    def end(self) -> None:
        """Kills all, and removes the group."""
        until = time.monotonic() + FREEZE_SECONDS
        while self.folder.exists() and time.monotonic() < until:
            for pid in self.pids():
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            self.thaw()
            with suppress(OSError):
                self.folder.rmdir()
            time.sleep(0.001)
        os.close(self.switch)
        os.close(self.events)


class Signals:
    """A process and its descendants. One that has lost its parent becomes a child of this process: it is stopped with
    the others, never continued, and killed with whichever side ends first."""

    counts = "its processes while they live, by /proc: no control group can be made here"

    known: ClassVar[set[int]] = set()  # children of this process that have lost no parent
    sides: ClassVar[set[int]] = set()  # that haven't ended
    strangers: ClassVar[set[int]] = set()  # children that this process had before the first of them

    def __init__(self, pid: int) -> None:
        prctl(PR_SET_CHILD_SUBREAPER, 1)
        self.pid, children = pid, {*processes.children(os.getpid())}
        if not self.sides:
            self.strangers.clear()
            self.strangers.update(children - {pid})
        self.sides.add(pid)
        self.known.update(children)

    def pids(self) -> list[int]:
        return [self.pid, *processes.descendants(self.pid)]

    def thaw(self) -> None:
        for pid in self.pids():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)

    def freeze(self) -> None:
        """Returns when nothing runs that the sides have started. Raises TimeoutError."""
        until = time.monotonic() + FREEZE_SECONDS
        while running := [pid for pid in self.started() if state(pid) not in "TtZX"]:
            for pid in running:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGSTOP)
            if time.monotonic() > until:
                raise TimeoutError("its processes can't be stopped")

    def started(self) -> list[int]:
        children = [pid for pid in processes.children(os.getpid()) if pid not in self.strangers]
        return [*children, *(pid for child in children for pid in processes.descendants(child))]

    def seconds(self) -> float:
        """Returns the processor time of the living, and of their children that have ended."""
        fields = [processes.stat(pid)[11:15] for pid in self.pids() if state(pid) != "X"]
        return sum(int(ticks) for four in fields for ticks in four) / TICKS_PER_SECOND

    def end(self) -> None:
        self.sides.discard(self.pid)
        lost = {*processes.children(os.getpid())} - self.known
        for pid in (*self.pids(), *lost, *(below for one in lost for below in processes.descendants(one))):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def state(pid: int) -> str:
    try:
        return processes.stat(pid)[0]
    except OSError:
        return "X"


def freezer(pid: int) -> Group | Signals:
    try:
        return Group(pid)
    except OSError:
        return Signals(pid)
