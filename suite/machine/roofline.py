"""The machine's roofline: operations and bytes a second that it really reaches (Williams et al. 2009).

`python -m suite.machine.roofline --cores 0 1` prints the sweep as JSON, with `--ceiling` the one figure that every set
has; needs numpy alone. Both run outside every block: the sweep once per machine and day, the ceiling for each run.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from time import perf_counter, process_time
from typing import Any, TypedDict

from suite.machine.bandwidth import bandwidths, caches

SIDES = (1024, 2048, 4096)
GEMM_REPEATS = 3
CEILING_SIDE, CEILING_REPEATS, CEILING_SECONDS = 1024, 5, 1.0
TIMES_MOVED = 2  # each byte that stays in a cache from step to step is read and written in one
HAD_MIN = 0.9  # of its cores' time that a reading must have had to be a roof: what shared them reached less
MARGIN = 1.2  # over the roof a step is implausible: sweeps have their bad moments


class Best(TypedDict):
    """What every sweep has."""

    flops_per_second_best: float


class Sweep(Best, total=False):
    """What `sweep` finds, as a set keeps it, with bfloat16's own roof beside it; earlier versions looked for less."""

    threads: int
    cores_had: float
    gemm_flops_per_second: dict[str, float]
    bytes_per_second: dict[str, float]
    cache_bytes_per_second: dict[str, float]
    cache_bytes: int
    inner_cache_bytes: int
    bytes_per_second_best: float
    cache_bytes_per_second_best: float
    bf16_gemm_flops_per_second: dict[str, float]
    bf16_flops_per_second_best: float


class Ceiling(TypedDict):
    """What `ceiling` finds."""

    side: int
    flops_per_second: float


class Reading(Ceiling, total=False):
    """One in a set; sets before version 4 don't say when, and with how much of its cores."""

    threads: int
    cores_had: float
    measured_at: str


class Ceilings(TypedDict, total=False):
    """All readings of a set, the first of the run's begin."""

    readings: list[Reading]


@dataclass(frozen=True, slots=True)
class Place:
    """Where bytes come from: how fast, and how many bytes lie nearer to the cores."""

    bytes_per_second: float
    nearer_bytes: int

    def seconds(self, bytes_moved: float) -> float:
        """The least time for what of so many bytes, read or written, can't have stayed nearer."""
        return max(0.0, bytes_moved - TIMES_MOVED * self.nearer_bytes) / self.bytes_per_second


@dataclass(frozen=True, slots=True)
class Roofline:
    """What cores and memory reach. `flops_per_second` is by precision: one that wasn't measured has no roof."""

    flops_per_second: Mapping[str, float]
    places: tuple[Place, ...] = ()

    @classmethod
    def of(cls, reached: Mapping[str, Any], ceilings: Iterable[Mapping[str, Any]] = ()) -> Roofline | None:
        """As `sweep` has measured it, or, where it wasn't asked for, by the best reading of `ceiling`; None without
        either. What had to share its cores isn't a roof. Sets before version 4 have DRAM's bandwidth alone."""
        reached = reached if reached and undisturbed(reached) else {}
        f32 = [each["flops_per_second"] for each in ceilings if undisturbed(each)]
        f32 += [reached["flops_per_second_best"]] if reached else []
        if not f32:
            return None
        flops = {"f32": max(map(float, f32))}
        if bf16 := reached.get("bf16_flops_per_second_best"):
            # Nobody need be slower than float32 in it: its products are exact there.
            flops["bf16"] = max(float(bf16), flops["f32"])
        places = []
        if cache := reached.get("cache_bytes_per_second_best"):
            places.append(Place(float(cache), int(reached["inner_cache_bytes"])))
        if memory := reached.get("bytes_per_second_best"):
            places.append(Place(float(memory), int(reached.get("cache_bytes", 0))))
        return cls(flops, tuple(places))

    def seconds(self, flops: float | None, bytes_moved: float | None, precision: str) -> float | None:
        """The least time that so much work can take: the longest of its arithmetic and of moving its bytes from each
        place. None for unknown work, and where the precision has no roof, or memory."""
        if flops is None or bytes_moved is None or precision not in self.flops_per_second or not self.places:
            return None
        return max(flops / self.flops_per_second[precision], self.moving_seconds(bytes_moved))

    def moving_seconds(self, bytes_moved: float) -> float:
        """The least time to move so many bytes; 0 for what fits into the cores' own caches."""
        return max((place.seconds(bytes_moved) for place in self.places), default=0.0)


def undisturbed(reading: Mapping[str, Any]) -> bool:
    """Whether a sweep or a ceiling had its cores to itself; sets before version 4 don't say."""
    return bool(reading.get("cores_had", 1.0) >= HAD_MIN)


def best_call(action: Callable[[], object], repeats: int, at_least: float = 0.0) -> tuple[float, float]:
    """(seconds, processor seconds) of the shortest of so many calls, or of as many as it takes to fill `at_least`
    seconds, after one that doesn't count."""
    action()
    calls: list[tuple[float, float]] = []
    while len(calls) < repeats or sum(seconds for seconds, _ in calls) < at_least:
        start, worked = perf_counter(), process_time()
        action()
        calls.append((perf_counter() - start, process_time() - worked))
    return min(calls)


def best_seconds(action: Callable[[], object], repeats: int) -> float:
    """The seconds alone."""
    return best_call(action, repeats)[0]


def gemm(side: int, threads: int, repeats: int = GEMM_REPEATS, at_least: float = 0.0) -> tuple[float, float]:
    """One square matrix product through BLAS: (float32 operations a second, the share of its cores that it had)."""
    import numpy as np

    a = np.random.default_rng(0).random((side, side), dtype=np.float32)
    out = np.empty_like(a)
    seconds, worked = best_call(lambda: np.matmul(a, a, out=out), repeats, at_least)
    return 2 * side**3 / seconds, worked / seconds / threads


def ceiling(cores: list[int]) -> dict[str, Any]:
    """The float32 ceiling of these cores in about a second: what stands beside every table, and what a resumed set
    looks at again."""
    os.sched_setaffinity(0, cores)
    reached, had = gemm(CEILING_SIDE, len(cores), CEILING_REPEATS, CEILING_SECONDS)
    return {"threads": len(cores), "side": CEILING_SIDE, "flops_per_second": reached, "cores_had": had}


def sweep(cores: list[int]) -> dict[str, Any]:
    """The roofline of these cores, as it is kept."""
    os.sched_setaffinity(0, cores)
    found = caches(cores)  # before anything starts threads: the bandwidths fork
    memory, cache = (bandwidths(cores, found.last, in_cache) for in_cache in (False, True))
    products = {str(side): gemm(side, len(cores)) for side in SIDES}
    best = [max(kinds.values()) for kinds in (memory, cache, products)]
    return {
        "threads": len(cores),
        "cores_had": min(had for _, had in best),
        "gemm_flops_per_second": {side: rate for side, (rate, _) in products.items()},
        "bytes_per_second": {kind: rate for kind, (rate, _) in memory.items()},
        "cache_bytes_per_second": {kind: rate for kind, (rate, _) in cache.items()},
        "cache_bytes": found.last,
        "inner_cache_bytes": found.inner,
        "bytes_per_second_best": best[0][0],
        "cache_bytes_per_second_best": best[1][0],
        "flops_per_second_best": best[2][0],
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cores", type=int, nargs="+", required=True)
    parser.add_argument("--ceiling", action="store_true")
    options = parser.parse_args()
    json.dump((ceiling if options.ceiling else sweep)(options.cores), sys.stdout)
