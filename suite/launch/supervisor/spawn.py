"""Forks a worker, with a session and streams of its own. If memory runs out, the kernel kills this process first.

`subprocess` isn't used: importing it takes longer than everything here, and the worker has to wait between fork and
exec until it is in its cgroup. Standard library only.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
from typing import NoReturn

STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
OOM_SCORE = "1000"
CANNOT_START = 127  # a shell's exit code for a command that can't be started


class Worker:
    """A forked process that waits for `go` before it runs its command.

    `stdout` and `stderr` are the read ends of pipes; standard input is empty. The process is killed when its parent
    ends. If the command can't be run, the process exits 127 with a line on stderr.
    """

    def __init__(
        self, command: list[str], environment: dict[str, str], directory: str, inherited: tuple[int, ...] = ()
    ) -> None:
        self.stdout, out = os.pipe()
        self.stderr, err = os.pipe()
        go, self._go = os.pipe()
        parent = os.getpid()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self._go)
            _become(command, environment, directory, parent, go, out, err, inherited)
        for descriptor in (out, err, go):
            os.close(descriptor)

    def go(self) -> None:
        with contextlib.suppress(BrokenPipeError):  # it has ended already, and its status says how
            os.write(self._go, b"!")
        os.close(self._go)


def prctl(option: int, value: int) -> None:
    """Calls Linux's prctl(2) with one argument. Raises OSError."""
    function = ctypes.CDLL(None, use_errno=True).prctl
    if function(option, *map(ctypes.c_ulong, (value, 0, 0, 0))) != 0:
        raise OSError(ctypes.get_errno(), f"prctl({option})")


def _become(
    command: list[str],
    environment: dict[str, str],
    directory: str,
    parent: int,
    go: int,
    out: int,
    err: int,
    inherited: tuple[int, ...],
) -> NoReturn:
    """Turns the forked child into the worker: waits for `go`, then runs the command. Never returns."""
    try:
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(out, 1)
        os.dup2(err, 2)
        os.setsid()
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        # Python ignores some signals and the parent catches others: the worker gets the defaults.
        for number in (*STOP_SIGNALS, signal.SIGCHLD, signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        for descriptor in inherited:
            os.set_inheritable(descriptor, True)  # noqa: FBT003 - its only form
        _volunteer()
        os.chdir(directory)
        # Without a byte, or with another parent, the supervisor has died since the fork.
        if os.read(go, 1) and os.getppid() == parent:
            os.execvpe(command[0], command, environment)
    except (OSError, ValueError) as error:
        os.write(2, f"could not start {command[0]}: {error}\n".encode())
    finally:
        os._exit(CANNOT_START)  # nothing may return into the parent's code


def _volunteer() -> None:
    """Makes this process the first that the kernel kills when the machine runs out of memory."""
    try:
        with open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
            file.write(OOM_SCORE)
    except OSError:
        return  # read-only in some containers; a limit still holds
