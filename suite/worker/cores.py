"""Processor time during a stretch of samples: this process's own, and that of everybody else.

A sample's own duration must not decide whether it was disturbed: dropping slow samples would flatter every stack that
is slow by itself. The processor time of all other processes decides.
"""

from __future__ import annotations

import os
import re
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

from suite.worker.process_memory import children

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
# The kernel counts idle time in ticks of 10 ms a core; over a shorter stretch their rounding would look like work.
SECONDS_MIN = 0.2


@dataclass(frozen=True, slots=True)
class CoreCounters:
    """Counters at one instant, in seconds of processor time. `own` and `kernel` (the part of `own` spent in the kernel)
    are this process's; `idle` is that of its cores, None where the kernel hides it."""

    at: float
    idle: float | None
    own: float
    kernel: float
    faults: int


@dataclass(slots=True)
class Stretch:
    """What happened between two readings: wall seconds, this process's processor time and its part in the kernel, minor
    page faults, and the share of the cores' time that others took (None: too short to tell, or hidden)."""

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
        """Yields a stretch whose figures are there once the `with` block has ended."""
        stretch, start = Stretch(), self.read()
        yield stretch
        end = self.read()
        stretch.seconds = end.at - start.at
        stretch.own_seconds = end.own - start.own
        stretch.kernel_seconds = end.kernel - start.kernel
        stretch.faults = end.faults - start.faults
        if stretch.seconds >= SECONDS_MIN and start.idle is not None and end.idle is not None:
            available = len(self.cpus) * stretch.seconds
            # Stolen time is not idle, so it counts among the others'.
            stretch.others = max(0.0, (available - (end.idle - start.idle) - stretch.own_seconds) / available)

    def read(self) -> CoreCounters:
        """Returns the counters now. This process's own include its children's, ended and living."""
        here, ended = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
        processor = here.ru_utime + here.ru_stime + ended.ru_utime + ended.ru_stime
        processor += sum(map(processor_seconds, children(os.getpid())))
        return CoreCounters(perf_counter(), self.idle_seconds(), processor, here.ru_stime, here.ru_minflt)

    def idle_seconds(self) -> float | None:
        """Returns for how long this process's cores have been idle since boot, added up, in seconds."""
        try:
            text = Path("/proc/stat").read_text(encoding="ascii")
        except OSError:
            return None
        cores = re.findall(r"^cpu(\d+) \d+ \d+ \d+ (\d+) (\d+)", text, re.MULTILINE)
        ticks = [int(idle) + int(waiting) for number, idle, waiting in cores if int(number) in self.cpus]
        return sum(ticks) / TICKS_PER_SECOND if len(ticks) == len(self.cpus) else None


def processor_seconds(pid: int) -> float:
    """Returns the processor time of a living process so far; 0 for one that has just ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / TICKS_PER_SECOND
