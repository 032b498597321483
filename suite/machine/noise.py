"""The noise gate: times a fixed piece of work (the canary) and reads the kernel's counters before and after a block."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from statistics import median
from time import perf_counter
from typing import Any

from suite.errors import UserError
from suite.guard.held import Busy, held_by_all
from suite.machine import cgroups, facts, limits
from suite.protocol import Protocol

CHUNK = bytes(1 << 20)
ROUNDS = 32  # chunks: each core hashes 32 MiB for a reading, by instructions that no workload uses
LOAD_MAX = 0.5  # last minute's load average per core above which a machine counts as busy
LOCK = os.environ.get("STACKWARS_LOCK", "stackwars-run")  # the name under which runs see each other
READINGS = 5  # their median counts, since an interrupt spoils a reading; about 100 ms in all


def hash_rounds(_: int) -> float:
    """Returns the seconds of the fixed work. hashlib releases the interpreter lock, so that all cores work at once."""
    start = perf_counter()
    digest = hashlib.sha256()
    for _ in range(ROUNDS):
        digest.update(CHUNK)
    return perf_counter() - start


def canary(threads: int) -> float:
    """Returns the seconds that the slowest of `threads` threads takes for the fixed work: the median of `READINGS`
    tries."""
    with ThreadPoolExecutor(threads) as pool:
        return median(max(pool.map(hash_rounds, range(threads))) for _ in range(READINGS))


@dataclass(frozen=True, slots=True)
class NoiseReading:
    """One reading of the canary and of the kernel's counters."""

    canary_seconds: float
    stolen: int
    jiffies: int
    throttled: int | None
    load: float
    mhz: float | None


def look(threads: int) -> NoiseReading:
    seconds = canary(threads)
    stolen, jiffies = facts.cpu_times()
    return NoiseReading(seconds, stolen, jiffies, cgroups.throttled_periods(), os.getloadavg()[0], facts.mhz())


def compare(before: NoiseReading, after: NoiseReading, protocol: Protocol) -> dict[str, Any]:
    """Returns a block's record of noise. Its `reasons` say why the block was noisy; a quiet block has none."""
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
def alone(*, force: bool = False, cores: int | None = None) -> Iterator[list[str]]:
    """Holds this machine's lock, so that it has only one run at a time, whosever. Yields warnings about what disturbs
    the run.

    Raises UserError if another run holds the lock, since each would disturb the other. With `force`, this too is only a
    warning.
    """
    warnings = limits.warnings()
    load, cores = os.getloadavg()[0], cores or len(facts.usable_cores())
    if load > LOAD_MAX * cores:
        warnings.append(f"This machine is busy: a load of {load:.1f} on {cores} cores. Its figures will be noisy.")
    with ExitStack() as stack:
        try:
            stack.enter_context(held_by_all(LOCK, "Another run is going on here", "each disturbs the other"))
        except Busy as other:
            if not force:
                raise UserError(f"{other} Wait for its end, or run beside it with --force.") from None
            warnings.append(str(other))
        yield warnings
