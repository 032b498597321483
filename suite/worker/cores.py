"""What the cores did during a stretch of samples: for us, and for everybody else.

Whether a sample was disturbed must not be told by the sample itself: leaving out slow ones would flatter every stack
that is slow by its own doing. It is told from outside, by the processor time of everyone but our own processes.
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

from suite.worker.memory import children

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
# The kernel tells idle time in ticks of 10 ms a core: over a shorter stretch their rounding would be mistaken for work.
SECONDS_MIN = 0.2


@dataclass(frozen=True, slots=True)
class Reading:
    """Counters at one instant, in seconds of processor time; `idle` of our cores, None where the kernel hides it."""

    at: float
    idle: float | None
    own: float
    kernel: float
    faults: int


@dataclass(slots=True)
class Stretch:
    """Between two readings: wall seconds, processor time (ours; of it in the kernel), pages touched anew, and the share
    of our cores' time that others took (None: too short to tell, or hidden)."""

    seconds: float = 0.0
    own_seconds: float = 0.0
    kernel_seconds: float = 0.0
    faults: int = 0
    others: float | None = None


@dataclass
class Cores:
    """Reads counters of the cores that this process may use, and sums up the stretches between readings."""

    cpus: frozenset[int] = field(default_factory=lambda: frozenset(os.sched_getaffinity(0)))

    @contextmanager
    def watch(self) -> Iterator[Stretch]:
        """A stretch, filled in when the block ends."""
        stretch, start = Stretch(), self.read()
        yield stretch
        end = self.read()
        stretch.seconds = end.at - start.at
        stretch.own_seconds = end.own - start.own
        stretch.kernel_seconds = end.kernel - start.kernel
        stretch.faults = end.faults - start.faults
        if stretch.seconds >= SECONDS_MIN and start.idle is not None and end.idle is not None:
            given = len(self.cpus) * stretch.seconds
            # Stolen time is not idle, so it counts among the others'.
            stretch.others = max(0.0, (given - (end.idle - start.idle) - stretch.own_seconds) / given)

    def read(self) -> Reading:
        """The counters now. Our own are those of this process and of its children, ended or living."""
        here, ended = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
        own = here.ru_utime + here.ru_stime + ended.ru_utime + ended.ru_stime
        own += sum(map(processor_seconds, children(os.getpid())))
        return Reading(perf_counter(), self.idle_seconds(), own, here.ru_stime, here.ru_minflt)

    def idle_seconds(self) -> float | None:
        """Seconds that our cores had nothing to do since boot."""
        try:
            text = Path("/proc/stat").read_text(encoding="ascii")
        except OSError:
            return None
        cores = re.findall(r"^cpu(\d+) \d+ \d+ \d+ (\d+) (\d+)", text, re.MULTILINE)
        ticks = [int(idle) + int(waiting) for number, idle, waiting in cores if int(number) in self.cpus]
        return sum(ticks) / TICKS_PER_SECOND if len(ticks) == len(self.cpus) else None


def processor_seconds(pid: int) -> float:
    """What a living process has used so far; 0 for one that has just ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / TICKS_PER_SECOND
