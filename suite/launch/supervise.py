"""The small process between the orchestrator and one worker: `python -S -m suite.launch.supervise [SPEC]`.

It exists so that no worker outlives its limits or its orchestrator, however either of them ends.
The specification is JSON, from the file SPEC or from standard input (`engine.supervisor_spec`); the
account is `exit.json` in the worker's directory. In a container it is the first process, which reaps.
Standard library only, and no imports that cost milliseconds. It blocks in one `poll` and looks around
at most four times a second, so that it doesn't disturb what is measured.
"""

from __future__ import annotations

import json
import math
import os
import select
import signal
import sys
import time
from typing import Any

from suite import plain_files
from suite.launch import cgroup
from suite.launch.output import CappedLog
from suite.launch.spawn import PR_SET_CHILD_SUBREAPER, PR_SET_PDEATHSIG, STOP_SIGNALS, Worker, prctl
from suite.launch.tree import Tree, descendants, proportional_bytes, resident_bytes

TREE_SECONDS = 1.0  # between two listings of the tree, where only the peak is wanted
# Under a limit without swap, code can be pushed out and read from disk again for hours: the memory is full, then, of
# what can't be pushed out, and thousands of pages a second come back.
FULL_SHARE, REFAULTS_PER_SECOND = 0.95, 5000.0
EVENTS_CHUNK_BYTES = 2**20  # of events.jsonl read in one look


class PhaseReader:
    """Follows the phase of a worker in its growing events.jsonl. Anything else there is ignored."""

    def __init__(self, path: str) -> None:
        self.phase = "start"
        self.since = time.monotonic()
        self._path = path
        self._offset = 0
        self._rest = b""

    def update(self) -> None:
        """Read what was appended; a phase begins when it is noticed, up to one check late."""
        try:
            with plain_files.opened(self._path) as file:
                file.seek(self._offset)
                data = file.read(EVENTS_CHUNK_BYTES)
        except OSError:
            return
        self._offset += len(data)
        *lines, rest = (self._rest + data).split(b"\n")
        self._rest = rest[-EVENTS_CHUNK_BYTES:]
        for line in lines:
            phase = _phase(line) if b'"phase"' in line else None
            if phase is not None and phase != self.phase:
                self.phase, self.since = phase, time.monotonic()


class Thrashing:
    """Whether a tree has been kept from its end by reading again what its limit has pushed out."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.since: float | None = None
        self.seen = False
        self._last: tuple[float, int] | None = None

    def lasts(self, now: float, refaults: int | None) -> bool:
        """True once it has gone on for long enough, by one look more; None: the memory isn't full."""
        before, self._last = self._last, None if refaults is None else (now, refaults)
        if before is None or refaults is None or refaults - before[1] <= REFAULTS_PER_SECOND * (now - before[0]):
            self.since = None
        elif self.since is None:
            self.since = before[0]
        self.seen = self.since is not None and now - self.since >= self.seconds
        return self.seen


class Supervisor:
    """Starts one worker, watches it, ends it and gives the account of it."""

    def __init__(self, spec: dict[str, Any]) -> None:
        self.spec = spec
        self.tree = Tree()
        self.stopped = False
        self.peak_bytes = 0
        self.limit_bytes: int | None = spec["memory_bytes"]
        self.machine_kills = cgroup.machine_oom_kills()
        self.peak_anonymous = 0
        self.group = self._group()
        self.wake = self._catch_signals()
        self.next_tree = 0.0
        self.thrashing = Thrashing(spec["thrashing_seconds"])

    def _group(self) -> cgroup.MemoryCgroup | None:
        """The container's own cgroup, a new one where a limit asks for it, or none."""
        if self.spec.get("in_container"):
            return cgroup.around()
        return cgroup.create(self.limit_bytes) if self.limit_bytes and self.spec["cgroup"] else None

    def run(self) -> dict[str, Any]:
        """The worker from start to end; returns the fields of exit.json."""
        try:
            self.started = time.monotonic()
            logs = self._start()
            self.phases = PhaseReader(f"{self.spec['directory']}/events.jsonl")
            cause = self._watch({log.descriptor: log for log in logs})
            duration = time.monotonic() - self.started
        finally:
            left_behind = self.tree.kill()
        for log in logs:
            log.close()
        return self._account(cause, duration, left_behind)

    def _start(self) -> tuple[CappedLog, CappedLog]:
        """Start the worker, in its cgroup where there is one; returns its two streams."""
        directory = self.spec["directory"]
        worker = Worker(self.spec["command"], self.spec["environment"], directory)
        self.tree.worker = worker.pid
        if self.group is not None:
            try:
                self.group.add(worker.pid)
            except OSError:  # made but not to be entered (a delegation's border): the watchdog does it
                self.group.remove()
                self.group = None
        # Before it runs: afterwards it could have laid a link or a pipe there.
        logs = (
            CappedLog(worker.stdout, f"{directory}/stdout.log"),
            CappedLog(worker.stderr, f"{directory}/stderr.log"),
        )
        worker.go()
        return logs

    def _watch(self, logs: dict[int, CappedLog]) -> str | None:
        """Wait for the worker's end; returns why it must be killed, or None if it ended by itself."""
        poller = select.poll()
        for descriptor in (self.wake, *logs):
            poller.register(descriptor, select.POLLIN)
        next_check = self.started + self.spec["check_seconds"]
        while True:
            wait = max(0.0, min(next_check, self._deadline()) - time.monotonic())
            for descriptor, _ in poller.poll(math.ceil(1000 * wait)):
                if descriptor == self.wake:
                    os.read(self.wake, 4096)
                    self.tree.reap()
                elif not logs[descriptor].pump():
                    poller.unregister(descriptor)
            if self.tree.status is not None:
                return None
            if self.stopped:
                return "interrupted"
            now = time.monotonic()
            if now >= min(next_check, self._deadline()):
                cause = self._check(now)
                if cause is not None:
                    return cause
                next_check = now + self.spec["check_seconds"]

    def _deadline(self) -> float:
        deadline: float = self.started + self.spec["timeout_seconds"]
        if self.phases.phase in self.spec["compile_phases"]:
            deadline = min(deadline, self.phases.since + self.spec["compile_timeout_seconds"])
        return deadline

    def _check(self, now: float) -> str | None:
        """One look around: `total`, `compile`, `memory`, or None where all is well."""
        self.phases.update()
        if now >= self._deadline():
            return "total" if now >= self.started + self.spec["timeout_seconds"] else "compile"
        if self.group is not None and self.group.oom_kills():
            return "memory"  # the kernel took one process of the tree: the others go with it
        if self.group is not None:
            anonymous = self.group.anonymous_bytes()
            self.peak_anonymous = max(self.peak_anonymous, anonymous)
            full = self.limit_bytes is not None and anonymous > FULL_SHARE * self.limit_bytes
            if self.thrashing.lasts(now, self.group.refaults() if full else None):
                return "memory"
        watchdog = self.limit_bytes is not None and self.group is None
        if not watchdog and now < self.next_tree:
            return None
        self.next_tree = now + TREE_SECONDS
        pids = descendants(os.getpid())
        tree_bytes = resident_bytes(pids)
        self.peak_bytes = max(self.peak_bytes, tree_bytes)
        over = watchdog and self.limit_bytes is not None and tree_bytes > self.limit_bytes
        return "memory" if over and proportional_bytes(pids) > (self.limit_bytes or 0) else None

    def _account(self, cause: str | None, duration: float, left_behind: int) -> dict[str, Any]:
        status = self.tree.status
        code = None if status is None else os.waitstatus_to_exitcode(status)
        died_of = -code if code is not None and code < 0 else None
        if self.group is None:
            kills = cgroup.machine_oom_kills() - self.machine_kills
            # Somebody else's process may have been meant, unless the worker died of just that.
            by_kernel = kills > 0 and died_of == signal.SIGKILL and cause is None
        else:
            kills = self.group.oom_kills()
            by_kernel = kills > 0
        limit_by = f"cgroup v{self.group.version}" if self.group else "watchdog"
        account = {
            "exit_code": code if died_of is None else None,
            "signal": died_of,
            "timed_out": cause in ("total", "compile"),
            "timeout_kind": cause if cause in ("total", "compile") else None,
            "memory_killed": cause == "memory" or by_kernel,
            "memory_limit_by": limit_by if self.limit_bytes else None,
            "oom_kills": kills,
            "thrashed": self.thrashing.seen,
            "peak_bytes_tree": self.peak_bytes or None,
            "peak_bytes_cgroup": self.group.peak_bytes() if self.group else None,
            "peak_bytes_anonymous": self.peak_anonymous or None,
            "duration_seconds": duration,
            "interrupted": cause == "interrupted",
            "left_behind": left_behind,
        }
        if self.group is not None:
            self.group.remove()
        return account

    def _catch_signals(self) -> int:
        """Turn signals into bytes in a pipe, so that one `poll` waits for everything."""
        wake_read, wake_write = os.pipe()
        os.set_blocking(wake_read, False)
        os.set_blocking(wake_write, False)
        signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for number in STOP_SIGNALS:
            signal.signal(number, self._stop)
        return wake_read

    def _stop(self, *_: object) -> None:
        self.stopped = True


def main() -> int:
    """Supervise as standard input says. Exit code 0 if the account was written."""
    prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    if sys.argv[1:]:
        with open(sys.argv[1], encoding="utf-8") as file:
            spec = json.load(file)
    else:
        spec = json.load(sys.stdin)
    if os.getppid() != spec["parent_pid"]:
        return 1  # the orchestrator died before the death signal was asked for
    account = Supervisor(spec).run()
    path = f"{spec['directory']}/exit.json"
    plain_files.write(f"{path}.tmp", json.dumps(account, indent=1))
    plain_files.clear(path)
    os.replace(f"{path}.tmp", path)
    return 0


def _phase(line: bytes) -> str | None:
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return None
    phase = event.get("phase") if isinstance(event, dict) and event.get("event") == "phase" else None
    return phase if isinstance(phase, str) else None


if __name__ == "__main__":
    sys.exit(main())
