"""What the cores did during a stretch: on a machine with a neighbour of known appetite, and on counters of a script."""

from __future__ import annotations

import mmap
import os
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from suite.launch.supervisor.spawn import PR_SET_CHILD_SUBREAPER, prctl
from suite.worker.timing.cores import TICKS_PER_SECOND, CoreCounters, Cores, processor_seconds

BUSY = "import os, sys, time\nos.sched_setaffinity(0, {int(sys.argv[1])})\nwhile True: pass"
ROUNDING = 5 / TICKS_PER_SECOND  # the kernel counts in ticks, at two times and for several processes


class Scripted(Cores):
    """Readings as a test says."""

    def __init__(self, *readings: CoreCounters, cpus: int = 2) -> None:
        super().__init__(frozenset(range(cpus)))
        self.readings = iter(readings)

    def read(self) -> CoreCounters:
        return next(self.readings)


def reading(at: float, idle: float | None, own: float = 0.0, kernel: float = 0.0, faults: int = 0) -> CoreCounters:
    return CoreCounters(at, idle, own, kernel, faults)


def test_what_is_neither_idle_nor_ours_is_the_others() -> None:
    """Two cores, 10 s: 4 s idle, 13 s ours, so 3 of 20 s were somebody else's."""
    with Scripted(reading(0, 100, 50), reading(10, 104, 63, kernel=2.0, faults=7)).watch() as stretch:
        pass
    assert stretch.others == pytest.approx(3 / 20)
    assert (stretch.seconds, stretch.own_seconds, stretch.kernel_seconds, stretch.faults) == (10, 13, 2, 7)


def test_rounding_never_makes_a_negative_share() -> None:
    with Scripted(reading(0, 0), reading(1, 0.02, 2.0)).watch() as stretch:
        pass
    assert stretch.others == 0


@pytest.mark.parametrize(
    "readings",
    [
        (reading(0, 0), reading(0.19, 0)),  # shorter than what 10 ms ticks can tell
        (reading(0, None), reading(9, None)),
    ],
)
def test_what_can_t_be_told_is_unknown(readings: tuple[CoreCounters, CoreCounters]) -> None:
    with Scripted(*readings).watch() as stretch:
        pass
    assert stretch.others is None


@pytest.fixture
def core() -> Iterator[int]:
    """This thread bound to the last of its cores."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(before)})
    yield max(before)
    os.sched_setaffinity(0, before)


def test_a_neighbour_on_our_core_is_seen_and_our_own_work_and_children_aren_t(core: int) -> None:
    """The neighbour is a grandchild's sibling: started by init's side of the tree, so not ours. The kernel's own
    figures say who had how much of the core, whoever else is on it."""
    prctl(
        PR_SET_CHILD_SUBREAPER, 0
    )  # a supervisor that another test ran here has made this process a parent of orphans
    watched = Cores()
    child = subprocess.Popen([sys.executable, "-c", BUSY, str(core)])
    try:
        with watched.watch() as ours:
            own_part, child_part = spin_beside(child.pid)
    finally:
        child.kill()
        child.wait()
    # A process that has another parent: its parent has ended.
    popen = f"subprocess.Popen([sys.executable, '-c', {BUSY!r}, '{core}'], stdout=subprocess.DEVNULL)"
    forker = f"import subprocess, sys\nprint({popen}.pid)"
    pid = int(subprocess.run([sys.executable, "-c", forker], stdout=subprocess.PIPE, check=True).stdout.split()[0])
    try:
        before = time.process_time()
        with watched.watch() as theirs:
            _, neighbour_part = spin_beside(pid)
        own_most = time.process_time() - before
    finally:
        os.kill(pid, 9)
    assert ours.others is not None and theirs.others is not None
    assert ours.own_seconds > own_part + child_part - ROUNDING
    assert ours.others * ours.seconds < ours.seconds - own_part - child_part + ROUNDING
    assert theirs.own_seconds < own_most + ROUNDING
    assert theirs.others * theirs.seconds > neighbour_part - ROUNDING


def test_pages_touched_anew_are_counted() -> None:
    with mmap.mmap(-1, 64 * mmap.PAGESIZE) as fresh, Cores().watch() as stretch:  # a heap may give what it had before
        for page in range(0, len(fresh), mmap.PAGESIZE):
            fresh[page] = 1
    assert stretch.faults > 0


def spin_beside(pid: int) -> tuple[float, float]:
    """Use the processor until another process has, for a while: seconds that each of them was given."""
    mine, theirs = time.process_time(), processor_seconds(pid)
    while (given := processor_seconds(pid) - theirs) < 10 * ROUNDING:
        pass
    return time.process_time() - mine, given
