"""The machine's roofline (Williams et al. 2009): measures the operations and bytes a second that the machine reaches,
and derives the least seconds that a step can take.

`python -m suite.machine.roofline --cores 0 1` prints the sweep, the whole roofline, as JSON. With `--ceiling` it prints
only the float32 ceiling, and with `--ceiling --places memory` the bandwidth of memory too. It needs only numpy. A
machine is swept once a day, outside the blocks. The ceiling is measured when a timed run on a CPU starts or is resumed,
and again when a process seems faster than the machine.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from time import perf_counter, process_time
from typing import Any, Required, TypedDict

from suite.machine.bandwidth import bandwidths, caches

SIDES = (1024, 2048, 4096)
GEMM_REPEATS = 3
CEILING_SIDE, CEILING_REPEATS, CEILING_SECONDS = 1024, 5, 1.0
# A share of processor time is over a call and so many seconds on each side of it: Linux books the time of threads on
# other cores at its ticks, up to 10 ms apart.
SHARE_SECONDS = 0.2
PLACES = ("cache", "memory")  # where bytes come from: the last-level cache, or beyond it
TIMES_MOVED = 2  # a byte that stays in a cache from step to step is read and written once in each step
HAD_MIN = 0.9  # a measurement that got a smaller share of its cores' time is disturbed: its figures are too low
MARGIN = 1.2  # a step faster than the roof by more than this factor is implausible; a sweep may be a bit too low


class Sweep(TypedDict, total=False):
    """The result of `sweep`, as a set keeps it, with bfloat16's roof if PyTorch measured it."""

    flops_per_second_best: Required[float]
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


class CeilingReading(TypedDict, total=False):
    """A reading of the float32 ceiling as a set keeps it, with the bandwidths that limit some case of the set.
    `in_doubt`: it was taken during the run, because a process seemed too fast."""

    side: Required[int]
    flops_per_second: Required[float]
    threads: int
    cores_had: float
    measured_at: str
    in_doubt: bool
    cache_bytes: int
    inner_cache_bytes: int
    bytes_per_second_best: float
    cache_bytes_per_second_best: float


class Ceilings(TypedDict, total=False):
    """All readings of a set's ceiling, the first from the beginning of the run."""

    readings: list[CeilingReading]


@dataclass(frozen=True, slots=True)
class MemoryLevel:
    """The last-level cache or memory: its bandwidth, and how many bytes the caches nearer to the cores hold."""

    bytes_per_second: float
    nearer_bytes: int

    def seconds(self, bytes_moved: float) -> float:
        """Returns the least seconds to read or write so many bytes, without those that nearer caches can have kept."""
        return max(0.0, bytes_moved - TIMES_MOVED * self.nearer_bytes) / self.bytes_per_second


@dataclass(frozen=True, slots=True)
class Roofline:
    """The rates that cores and memory reach. A precision that isn't in `flops_per_second` has no roof."""

    flops_per_second: Mapping[str, float]
    levels: tuple[MemoryLevel, ...] = ()

    @classmethod
    def of(cls, reached: Mapping[str, Any], ceilings: Iterable[Mapping[str, Any]] = ()) -> Roofline | None:
        """Returns the roofline that a sweep and readings of the ceiling give; None if there are neither. Measurements
        that other programs disturbed are left out."""
        reached = reached if reached and undisturbed(reached) else {}
        f32 = [reading["flops_per_second"] for reading in ceilings if undisturbed(reading)]
        f32 += [reached["flops_per_second_best"]] if reached else []
        if not f32:
            return None
        flops = {"f32": max(map(float, f32))}
        if bf16 := reached.get("bf16_flops_per_second_best"):
            # Products of bfloat16 numbers are exact in float32, so no stack need be slower than in float32.
            flops["bf16"] = max(float(bf16), flops["f32"])
        return cls(flops, levels([reached]))

    @classmethod
    def limits(cls, reached: Mapping[str, Any], ceilings: Sequence[Mapping[str, Any]]) -> Roofline | None:
        """Returns the rates that no step can exceed. It is the roofline of `of`, but with the greatest bandwidths among
        the day's sweep and the run's own readings. None if there are neither."""
        roof = cls.of(reached, ceilings)
        measured = [reading for reading in (reached, *ceilings) if reading and undisturbed(reading)]
        return None if roof is None else replace(roof, levels=levels(measured))

    def seconds(self, flops: float | None, bytes_moved: float | None, precision: str) -> float | None:
        """Returns the least seconds that so much work can take: the longest of its arithmetic and of moving its bytes
        from each level. None for unknown work, and if the precision or memory has no roof."""
        if flops is None or bytes_moved is None or precision not in self.flops_per_second or not self.levels:
            return None
        return max(flops / self.flops_per_second[precision], self.moving_seconds(bytes_moved))

    def moving_seconds(self, bytes_moved: float) -> float:
        """Returns the least seconds to move so many bytes; 0 for bytes that fit into the cores' own caches."""
        return max((level.seconds(bytes_moved) for level in self.levels), default=0.0)


def levels(measured: Sequence[Mapping[str, Any]]) -> tuple[MemoryLevel, ...]:
    """Returns the last-level cache and memory, each at its greatest bandwidth among the measurements."""
    found = []
    for rate, nearer in (
        ("cache_bytes_per_second_best", "inner_cache_bytes"),
        ("bytes_per_second_best", "cache_bytes"),
    ):
        best = max(measured, key=lambda reading: reading.get(rate) or 0.0, default={})
        if best.get(rate):
            found.append(MemoryLevel(float(best[rate]), int(best.get(nearer, 0))))
    return tuple(found)


def undisturbed(reading: Mapping[str, Any]) -> bool:
    """Whether a sweep or a reading of the ceiling got nearly all of its cores' time: at least `HAD_MIN`. A measurement
    without `cores_had` counts as undisturbed."""
    return bool(reading.get("cores_had", 1.0) >= HAD_MIN)


def best_call(action: Callable[[], object], repeats: int, at_least: float = 0.0) -> tuple[float, float]:
    """Returns (seconds of the shortest call, processor seconds a second around it). A first call doesn't count; then
    there are at least `repeats` calls, which take at least `at_least` seconds together."""
    action()
    marks = [(perf_counter(), process_time())]
    while len(marks) <= repeats or marks[-1][0] - marks[0][0] < at_least:
        action()
        marks.append((perf_counter(), process_time()))
    seconds, start = min((after - before, before) for (before, _), (after, _) in pairwise(marks))
    (begin, before), *_, (end, after) = (mark for mark in marks if abs(mark[0] - start) <= seconds + SHARE_SECONDS)
    return seconds, (after - before) / (end - begin)


def best_seconds(action: Callable[[], object], repeats: int) -> float:
    return best_call(action, repeats)[0]


def gemm(side: int, threads: int, repeats: int = GEMM_REPEATS, at_least: float = SHARE_SECONDS) -> tuple[float, float]:
    """Returns (float32 operations a second, share of the cores' time that it got) of a square matrix product."""
    import numpy as np

    a = np.random.default_rng(0).random((side, side), dtype=np.float32)
    out = np.empty_like(a)
    seconds, cores = best_call(lambda: np.matmul(a, a, out=out), repeats, at_least)
    return 2 * side**3 / seconds, cores / threads


def ceiling(cores: list[int], places: Sequence[str] = ()) -> dict[str, Any]:
    """Measures the float32 ceiling of these cores, and the bandwidth of `places`; the ceiling takes about a second, and
    so does each place. Every table shows the ceiling, and a resumed set measures it again."""
    os.sched_setaffinity(0, cores)
    sizes = caches(cores)
    # Before anything starts threads: `bandwidths` forks.
    best = {place: max(bandwidths(cores, sizes.last, place == "cache").values()) for place in places}
    rate, share = gemm(CEILING_SIDE, len(cores), CEILING_REPEATS, CEILING_SECONDS)
    return {
        "threads": len(cores),
        "side": CEILING_SIDE,
        "flops_per_second": rate,
        "cores_had": min([share, *(share for _, share in best.values())]),
        **({"cache_bytes": sizes.last, "inner_cache_bytes": sizes.inner} if places else {}),
        **({"cache_bytes_per_second_best": best["cache"][0]} if "cache" in best else {}),
        **({"bytes_per_second_best": best["memory"][0]} if "memory" in best else {}),
    }


def sweep(cores: list[int]) -> dict[str, Any]:
    os.sched_setaffinity(0, cores)
    sizes = caches(cores)
    # Before anything starts threads: `bandwidths` forks.
    memory, cache = (bandwidths(cores, sizes.last, in_cache) for in_cache in (False, True))
    products = {str(side): gemm(side, len(cores)) for side in SIDES}
    best = [max(kinds.values()) for kinds in (memory, cache, products)]
    return {
        "threads": len(cores),
        "cores_had": min(share for _, share in best),
        "gemm_flops_per_second": {side: rate for side, (rate, _) in products.items()},
        "bytes_per_second": {kind: rate for kind, (rate, _) in memory.items()},
        "cache_bytes_per_second": {kind: rate for kind, (rate, _) in cache.items()},
        "cache_bytes": sizes.last,
        "inner_cache_bytes": sizes.inner,
        "bytes_per_second_best": best[0][0],
        "cache_bytes_per_second_best": best[1][0],
        "flops_per_second_best": best[2][0],
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cores", type=int, nargs="+", required=True)
    parser.add_argument("--ceiling", action="store_true")
    parser.add_argument("--places", nargs="*", choices=PLACES, default=())
    options = parser.parse_args()
    json.dump(ceiling(options.cores, options.places) if options.ceiling else sweep(options.cores), sys.stdout)
