"""Measures processor time during a stretch of samples: this process's, and that of all other processes.

The other processes' time decides whether a sample was disturbed. A sample's own duration must not: dropping slow
samples would flatter every stack that is slow by itself.
"""

from __future__ import annotations

import os
import re
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter

from suite.machine import facts
from suite.machine.processes import descendants, stat

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
# The kernel counts idle time in ticks of 10 ms a core; in a shorter stretch, the rounding would look like work.
SECONDS_MIN = 0.2


@dataclass(frozen=True, slots=True)
class CoreCounters:
    """Counters at the instant `at`, in seconds of processor time. `own` is the time of this process and its children,
    `kernel` the time of this process in the kernel, `idle` the idle time of the cores that it may use (None where the
    kernel hides it). `faults` counts this process's minor page faults."""

    at: float
    idle: float | None
    own: float
    kernel: float
    faults: int


@dataclass(slots=True)
class Stretch:
    """What happened between two readings: wall seconds, this process's processor time and its part in the kernel, minor
    page faults, and the share of the cores' time that other processes took (None: the stretch is too short to tell, or
    the kernel hides it)."""

    seconds: float = 0.0
    own_seconds: float = 0.0
    kernel_seconds: float = 0.0
    faults: int = 0
    others: float | None = None


@dataclass
class Cores:
    """Reads the counters of the cores that this process may use."""

    cpus: frozenset[int] = field(default_factory=lambda: frozenset(os.sched_getaffinity(0)))

    @contextmanager
    def watch(self) -> Iterator[Stretch]:
        stretch, start = Stretch(), self.read()
        yield stretch
        end = self.read()
        stretch.seconds = end.at - start.at
        stretch.own_seconds = end.own - start.own
        stretch.kernel_seconds = end.kernel - start.kernel
        stretch.faults = end.faults - start.faults
        if stretch.seconds >= SECONDS_MIN and start.idle is not None and end.idle is not None:
            available = len(self.cpus) * stretch.seconds
            # Time that the hypervisor stole isn't idle, so it counts as taken by others.
            stretch.others = max(0.0, (available - (end.idle - start.idle) - stretch.own_seconds) / available)

    def read(self) -> CoreCounters:
        """Returns the counters now. `own` includes the time of this process's children, ended and living."""
        here, ended = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
        processor = here.ru_utime + here.ru_stime + ended.ru_utime + ended.ru_stime
        processor += sum(map(processor_seconds, descendants(os.getpid())))
        return CoreCounters(perf_counter(), self.idle_seconds(), processor, here.ru_stime, here.ru_minflt)

    def idle_seconds(self) -> float | None:
        """Returns the idle seconds of this process's cores since boot, added up; None where the kernel hides them."""
        cores = re.findall(r"^cpu(\d+) \d+ \d+ \d+ (\d+) (\d+)", facts.read("/proc/stat") or "", re.MULTILINE)
        ticks = [int(idle) + int(waiting) for number, idle, waiting in cores if int(number) in self.cpus]
        return sum(ticks) / TICKS_PER_SECOND if len(ticks) == len(self.cpus) else None


def processor_seconds(pid: int) -> float:
    """Returns the processor time of a living process so far; 0 for one that has just ended."""
    try:
        fields = stat(pid)
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / TICKS_PER_SECOND
