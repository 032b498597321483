"""The small process between the orchestrator and one worker: `python -S -m suite.launch.supervisor.supervise [SPEC]`.

It makes sure that no worker outlives its limits or its orchestrator, however these end. It reads its specification
(`engine.supervisor_spec`, JSON) from the file SPEC or from standard input, and writes its account to `exit.json` in the
worker's directory. In a container it is the first process. It uses the standard library alone and no import that takes
milliseconds. It blocks in one `poll` and, while something is timed, looks at the worker at most four times a second, so
that it doesn't disturb the measurement.
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

from suite.guard import plain_files
from suite.launch.supervisor import cgroup
from suite.launch.supervisor.output import CappedLog
from suite.launch.supervisor.relay import Relay
from suite.launch.supervisor.spawn import PR_SET_CHILD_SUBREAPER, PR_SET_PDEATHSIG, STOP_SIGNALS, Worker, prctl
from suite.launch.supervisor.tree import Tree, descendants, proportional_bytes, resident_bytes
from suite.machine import limits

HELD_CHECK_SECONDS = 5.0  # between two looks while the worker holds, because another worker is being measured
TREE_SECONDS = 1.0  # between two listings of the process tree that only sample its peak memory
# Under a memory limit without swap the kernel may evict pages of program files and read them again for hours: memory is
# then full of pages that can't be evicted, and thousands of file pages a second are read again.
FULL_SHARE, REFAULTS_PER_SECOND = 0.95, 5000.0
EVENTS_CHUNK_BYTES = 2**20  # the most of events.jsonl that one look reads


class PhaseReader:
    """Follows a worker's phase in its growing events.jsonl, and ignores all other events. `seconds` has the time that
    the worker has spent in each of the phases `clocked`, by this process's clock."""

    def __init__(self, path: str, clocked: list[str]) -> None:
        self.phase = "start"
        self.since = time.monotonic()
        self.seconds = dict.fromkeys(clocked, 0.0)
        self._counted = 0.0
        self._path = path
        self._offset = 0
        self._rest = b""

    def update(self, running: float) -> None:
        """Reads what was appended. A phase counts from the look that notices it, not from its beginning shortly
        before. `running` are the seconds that the worker has run so far, without those in which it held."""
        if self.phase in self.seconds:
            self.seconds[self.phase] += running - self._counted
        self._counted = running
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
    """Detects a process tree that does nothing but read evicted pages of its files again."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.since: float | None = None
        self.seen = False
        self._last: tuple[float, int] | None = None

    def lasts(self, now: float, refaults: int | None) -> bool:
        """Takes one more reading of the count of refaults, None if the memory isn't full. True once the tree has
        thrashed for `seconds`."""
        before, self._last = self._last, None if refaults is None else (now, refaults)
        if before is None or refaults is None or refaults - before[1] <= REFAULTS_PER_SECOND * (now - before[0]):
            self.since = None
        elif self.since is None:
            self.since = before[0]
        self.seen = self.since is not None and now - self.since >= self.seconds
        return self.seen


class Supervisor:
    """Starts one worker, watches it, kills it at its limits and writes the account of its end."""

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
        """Returns the worker's cgroup: in a container the container's, else a new one if there is a memory limit."""
        if self.spec.get("in_container"):
            return cgroup.container_cgroup()
        return cgroup.create(self.limit_bytes) if self.limit_bytes and self.spec["cgroup"] else None

    def run(self) -> dict[str, Any]:
        """Runs the worker from start to end; returns the fields of exit.json."""
        try:
            self.started = time.monotonic()
            logs = self._start()
            self.phases = PhaseReader(f"{self.spec['directory']}/events.jsonl", self.spec["clocked_phases"])
            cause = self._watch({log.descriptor: log for log in logs})
            self.phases.update(self._running())
            duration = time.monotonic() - self.started
        finally:
            left_behind = self.tree.kill()
        for log in logs:
            log.close()
        return self._account(cause, duration, left_behind)

    def _start(self) -> tuple[CappedLog, CappedLog]:
        """Starts the worker, in its cgroup if it has one; returns its two streams."""
        directory = self.spec["directory"]
        self.relay = Relay(directory) if self.spec["turns_variable"] else None
        environment: dict[str, str] = self.spec["environment"]
        descriptors: tuple[int, ...] = ()
        if self.relay is not None:
            descriptors = (self.relay.worker_orders, self.relay.worker_answers)
            environment = environment | {self.spec["turns_variable"]: "{} {}".format(*descriptors)}
        worker = Worker(self.spec["command"], environment, directory, descriptors)
        if self.relay is not None:
            self.relay.begin()
        self.tree.worker = worker.pid
        if self.group is not None:
            try:
                self.group.add(worker.pid)
            except OSError:  # the cgroup can't be entered (a delegation's border): then the watchdog limits the worker
                self.group.remove()
                self.group = None
        # Made before the worker runs, since a worker could put a link or a pipe in their place.
        logs = (
            CappedLog(worker.stdout, f"{directory}/stdout.log"),
            CappedLog(worker.stderr, f"{directory}/stderr.log"),
        )
        worker.go()
        return logs

    def _watch(self, logs: dict[int, CappedLog]) -> str | None:
        """Waits for the worker's end; returns why it must be killed, or None if it ended by itself."""
        poller = select.poll()
        turns = {} if self.relay is None else {self.relay.orders: self._order, self.relay.answers: self._answer}
        for descriptor in (self.wake, *turns, *logs):
            poller.register(descriptor, select.POLLIN)
        next_check = self.started + self.spec["check_seconds"]
        while True:
            wait = max(0.0, min(next_check, self._deadline()) - time.monotonic())
            for descriptor, _ in poller.poll(math.ceil(1000 * wait)):
                if descriptor == self.wake:
                    os.read(self.wake, 4096)
                    self.tree.reap()
                elif descriptor in turns:
                    if not turns[descriptor]():
                        poller.unregister(descriptor)
                    next_check = time.monotonic() + self._pause()
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
                next_check = now + self._pause()

    def _order(self) -> bool:
        """Passes on an order; False once the worker is to be killed, as when the orchestrator has closed its end."""
        assert self.relay is not None
        self.stopped = not self.relay.pass_order() or self.stopped
        return not self.stopped

    def _answer(self) -> bool:
        """Passes on an answer; False once the worker has closed its end."""
        assert self.relay is not None
        return self.relay.pass_answer()

    def _pause(self) -> float:
        """Returns the seconds until the next look at the worker."""
        pause: float = self.spec["check_seconds"]
        return max(pause, HELD_CHECK_SECONDS) if self.relay is not None and self.relay.holds else pause

    def _total(self) -> float:
        """Returns the time by which the worker must have ended. Time during which it holds doesn't count."""
        if self.relay is None:
            return float(self.started + self.spec["timeout_seconds"])
        held = math.inf if self.relay.holds else self.relay.held_seconds()
        return float(self.started + self.spec["timeout_seconds"] + held)

    def _running(self) -> float:
        """Returns the seconds since the worker's start, without those in which it held."""
        return time.monotonic() - self.started - (self.relay.held_seconds() if self.relay is not None else 0.0)

    def _deadline(self) -> float:
        deadline = self._total()
        if self.phases.phase in self.spec["compile_phases"]:
            deadline = min(deadline, self.phases.since + self.spec["compile_timeout_seconds"])
        return deadline

    def _check(self, now: float) -> str | None:
        """Looks once at deadlines and memory. Returns the broken limit, `total`, `compile` or `memory`, or None."""
        self.phases.update(self._running())
        if now >= self._deadline():
            return "total" if now >= self._total() else "compile"
        if self.group is not None and self.group.oom_kills():
            return "memory"  # the kernel has killed one process of the tree: the others are killed with it
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
            # The kernel may have killed another process of the machine, unless this one died of SIGKILL.
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
            "phase_seconds": self.phases.seconds,
            "shell_limits": limits.tight(limits.limits()),
        }
        if self.group is not None:
            self.group.remove()
        return account

    def _catch_signals(self) -> int:
        """Turns signals into bytes in a pipe, so that one `poll` waits for everything. Returns the pipe's read end."""
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
    """Runs one supervisor. Returns 0 if the account was written."""
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
