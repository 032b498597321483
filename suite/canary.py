"""The noise gate: a fixed piece of work before and after each block, and what the kernel saw in between."""

from __future__ import annotations

import hashlib
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from statistics import median
from time import perf_counter
from typing import Any

from suite import facts
from suite.protocol import Protocol

CHUNK = bytes(1 << 20)
ROUNDS = 32  # 32 MiB of SHA-256 per core and reading, in hardware that nothing else of ours uses
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
class Surroundings:
    """One look at the machine."""

    canary_seconds: float
    stolen: int
    jiffies: int
    throttled: int | None
    load: float
    mhz: float | None


def look(threads: int) -> Surroundings:
    """Run the canary and read the kernel's counters."""
    seconds = canary(threads)
    stolen, jiffies = facts.cpu_times()
    return Surroundings(seconds, stolen, jiffies, facts.throttled_periods(), os.getloadavg()[0], facts.mhz())


def compare(before: Surroundings, after: Surroundings, protocol: Protocol) -> dict[str, Any]:
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
