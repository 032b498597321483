"""The noise gate: a fixed piece of work before and after each block, and what the kernel saw in between."""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from suite.errors import UserError
from suite.guard.held import Busy, held
from suite.machine import facts
from suite.protocol import Protocol

CHUNK = bytes(1 << 20)
ROUNDS = 32  # 32 MiB of SHA-256 per core and reading, in hardware that nothing else of ours uses
LOAD_MAX = 0.5  # of a core's worth for each core, over the last minute, before a run begins
OWN_FOLDER = Path(tempfile.gettempdir()) / f"stackwars-{os.getuid()}"  # one a machine and user
READINGS = 5  # their median: one reading is at the mercy of a single interrupt. About 100 ms in all


def hash_rounds(_: int) -> float:
    """Seconds for the fixed work. hashlib releases the interpreter lock, so cores work side by side."""
    start = perf_counter()
    digest = hashlib.sha256()
    for _ in range(ROUNDS):
        digest.update(CHUNK)
    return perf_counter() - start


def canary(threads: int) -> float:
    """Seconds of the slowest core, the median of a few readings."""
    with ThreadPoolExecutor(threads) as pool:
        return median(max(pool.map(hash_rounds, range(threads))) for _ in range(READINGS))


@dataclass(frozen=True, slots=True)
class Look:
    """One look at the machine."""

    canary_seconds: float
    stolen: int
    jiffies: int
    throttled: int | None
    load: float
    mhz: float | None


def look(threads: int) -> Look:
    """Run the canary and read the kernel's counters."""
    seconds = canary(threads)
    stolen, jiffies = facts.cpu_times()
    return Look(seconds, stolen, jiffies, facts.throttled_periods(), os.getloadavg()[0], facts.mhz())


def compare(before: Look, after: Look, protocol: Protocol) -> dict[str, Any]:
    """The block's record of noise; `reasons` is empty for a quiet block."""
    drift = after.canary_seconds / before.canary_seconds - 1
    steal = (after.stolen - before.stolen) / max(1, after.jiffies - before.jiffies)
    throttled = None if after.throttled is None or before.throttled is None else after.throttled - before.throttled
    reasons = []
    if abs(drift) > protocol.canary_drift_max:
        reasons.append(f"the canary drifted by {drift:+.1%}")
    if steal > protocol.steal_share_max:
        reasons.append(f"the hypervisor took {steal:.1%} of the CPU time")
    if throttled:
        reasons.append(f"the CPU quota throttled {throttled} periods")
    return {
        "canary_seconds": [before.canary_seconds, after.canary_seconds],
        "steal_share": steal,
        "throttled": throttled,
        "load_before": before.load,
        "load_after": after.load,
        "mhz_before": before.mhz,
        "mhz_after": after.mhz,
        "reasons": reasons,
    }


@contextmanager
def alone(cores: int, force: bool = False) -> Iterator[list[str]]:
    """Hold the mark by which a second run of this user on this machine notices this one; what disturbs it, in
    sentences. Runs of other users are seen by the load that they make.

    Raises UserError where another run holds it: each would spoil the other's figures. `force` runs all the same.
    """
    found = []
    load = os.getloadavg()[0]
    if load > LOAD_MAX * cores:
        found.append(f"This machine is busy: a load of {load:.1f} on {cores} cores. Its figures will be noisy.")
    with ExitStack() as stack:
        try:
            mark = own_folder() / "run.lock"
            stack.enter_context(held(mark, "Another run is going on here", "each disturbs the other"))
        except Busy as other:
            if not force:
                raise UserError(f"{other} Wait for its end, or run beside it with --force.") from None
            found.append(str(other))
        yield found


def own_folder() -> Path:
    """A folder of this user's own in the one for temporary files, where everybody may write. Raises UserError where
    somebody else has laid something in its place."""
    with suppress(FileExistsError):
        OWN_FOLDER.mkdir(mode=0o700)
    there = OWN_FOLDER.lstat()
    if not stat.S_ISDIR(there.st_mode) or there.st_uid != os.getuid() or there.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise UserError(
            f"{OWN_FOLDER} isn't a folder in which you alone can write: somebody else could have a run of "
            "yours write elsewhere. Have it removed, or name another folder by TMPDIR."
        )
    return OWN_FOLDER
