"""The machine's roofline: float32 operations and bytes a second that it really reaches (Williams et al. 2009).

`python -m suite.machine.roofline --cores 0 1` prints it as JSON; needs numpy alone. The session runs it in the locked
numpy environment once per machine and day, outside every block.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

SIDES = (1024, 2048, 4096)
GEMM_REPEATS = 3
COPY_REPEATS = 10
CACHE_MULTIPLE = 4  # arrays this many times the last-level cache, so that none of it helps
CACHE_BYTES_LEAST = 32 * 2**20  # assumed where the cache's size is hidden


@dataclass(frozen=True, slots=True)
class Roofline:
    """What cores and memory reach: float32 operations and bytes a second."""

    flops_per_second: float
    bytes_per_second: float

    @classmethod
    def of(cls, reached: Mapping[str, Any]) -> Roofline:
        """As `sweep` has measured it."""
        return cls(float(reached["flops_per_second_best"]), float(reached["bytes_per_second_best"]))

    def seconds(self, flops: float | None, bytes_moved: float | None) -> float | None:
        """The least time that so much work can take: t* = max(F / P, bytes / bandwidth). None for unknown work."""
        if flops is None or bytes_moved is None:
            return None
        return max(flops / self.flops_per_second, bytes_moved / self.bytes_per_second)


def last_level_cache_bytes() -> int:
    """The largest cache of the first core, in bytes."""
    sizes = [path.read_text().strip() for path in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size")]
    return max((1024 * int(size.removesuffix("K")) for size in sizes if size.endswith("K")), default=CACHE_BYTES_LEAST)


def best_seconds(action: Callable[[], object], repeats: int) -> float:
    """The shortest of so many calls, after one that doesn't count."""
    seconds = []
    for _ in range(repeats + 1):
        start = perf_counter()
        action()
        seconds.append(perf_counter() - start)
    return min(seconds[1:])


def gemm_flops(side: int) -> float:
    """float32 operations a second of one square matrix product through BLAS."""
    import numpy as np

    a = np.random.default_rng(0).random((side, side), dtype=np.float32)
    out = np.empty_like(a)
    return 2 * side**3 / best_seconds(lambda: np.matmul(a, a, out=out), GEMM_REPEATS)


def bandwidth(threads: int, triad: bool) -> float:
    """Bytes a second of STREAM's copy, or of its triad in two passes (McCalpin 1995), all cores at work."""
    import numpy as np

    count = CACHE_MULTIPLE * last_level_cache_bytes() // 4
    a, b, c = (np.full(count, value, np.float32) for value in (0.0, 1.0, 2.0))
    slices = [slice(i * count // threads, (i + 1) * count // threads) for i in range(threads)]

    def work(part: slice) -> None:
        if triad:
            np.multiply(c[part], np.float32(3.0), out=a[part])
            np.add(a[part], b[part], out=a[part])
        else:
            np.copyto(a[part], b[part])

    passes = 5 if triad else 2  # arrays read or written
    with ThreadPoolExecutor(threads) as pool:
        return passes * 4 * count / best_seconds(lambda: list(pool.map(work, slices)), COPY_REPEATS)


def sweep(cores: list[int]) -> dict[str, Any]:
    """The roofline of these cores, as it is kept."""
    os.sched_setaffinity(0, cores)
    gemm = {str(side): gemm_flops(side) for side in SIDES}
    bytes_per_second = {"copy": bandwidth(len(cores), triad=False), "triad": bandwidth(len(cores), triad=True)}
    return {
        "threads": len(cores),
        "gemm_flops_per_second": gemm,
        "bytes_per_second": bytes_per_second,
        "flops_per_second_best": max(gemm.values()),
        "bytes_per_second_best": max(bytes_per_second.values()),
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cores", type=int, nargs="+", required=True)
    json.dump(sweep(parser.parse_args().cores), sys.stdout)
