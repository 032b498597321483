"""Measures how many bytes a second all cores together move: in the last-level cache, and in memory (McCalpin 1995,
STREAM).

It needs only numpy. One process is bound to each core. Threads of one interpreter wouldn't do: they wait for the
interpreter's lock after each pass, and a pass over arrays that fit into a cache is short.
"""

from __future__ import annotations

import math
import multiprocessing
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Barrier
from pathlib import Path
from time import perf_counter, process_time

WINDOWS, WINDOW_SECONDS = 3, 0.15  # the best of so many windows of this length counts
TIMEOUT_SECONDS = 60
MEMORY_MULTIPLE = 4  # each array is so many times the last-level cache, so that the cache can't help
CACHE_SHARE = 0.5  # the share of the last-level cache that all arrays together fill; the rest is for other programs
CACHE_BYTES_LEAST = 32 * 2**20  # assumed where the cache's size is hidden
KINDS = {"read": (1, 1), "copy": (2, 2), "triad": (3, 5)}  # (arrays, arrays read or written in a pass)


@dataclass(frozen=True, slots=True)
class Caches:
    """The data caches of some cores: the bytes that the last-level caches hold together, and the bytes that all caches
    nearer to the cores hold together."""

    last: int
    inner: int


def caches(cores: Sequence[int], root: Path = Path("/sys/devices/system/cpu")) -> Caches:
    """Returns the data caches of these cores; a cache that several cores share counts once."""
    levels: dict[int, dict[str, int]] = {}
    for core in cores:
        for index in sorted((root / f"cpu{core}" / "cache").glob("index*")):
            kind, size = ((index / name).read_text().strip() for name in ("type", "size"))
            if kind != "Instruction" and size.endswith("K"):
                level, shared = ((index / name).read_text().strip() for name in ("level", "shared_cpu_list"))
                levels.setdefault(int(level), {})[shared] = 1024 * int(size.removesuffix("K"))
    sums = [sum(levels[level].values()) for level in sorted(levels)]
    return Caches(sums[-1], sum(sums[:-1])) if sums else Caches(CACHE_BYTES_LEAST, 0)


def bandwidths(cores: Sequence[int], last_level_bytes: int, in_cache: bool) -> dict[str, tuple[float, float]]:
    """Returns {kind of access, as in `KINDS`: result of `together`}. The arrays fit into the last-level cache
    (`in_cache`), or are several times as large."""
    rates = {}
    for kind, (arrays, _) in KINDS.items():
        array_bytes = CACHE_SHARE * last_level_bytes / arrays if in_cache else MEMORY_MULTIPLE * last_level_bytes
        rates[kind] = together(kind, cores, math.ceil(array_bytes / len(cores) / 4))
    return rates


def together(kind: str, cores: Sequence[int], count: int) -> tuple[float, float]:
    """Returns the figures of the best window: (bytes a second of all cores together, share of its core's time that the
    most disturbed process got).

    Each core works on its own float32 arrays of `count` numbers.
    """
    context = multiprocessing.get_context("fork")
    # The timeout: a process that died must not keep the others waiting.
    barrier = context.Barrier(len(cores), timeout=TIMEOUT_SECONDS)
    pipes = [context.Pipe(duplex=False) for _ in cores]
    workers = [
        context.Process(target=work, args=(kind, core, count, barrier, sender))
        for core, (_, sender) in zip(cores, pipes, strict=True)
    ]
    for worker in workers:
        worker.start()
    for _, sender in pipes:
        sender.close()  # else `recv` would wait for a process that died
    rates = [receiver.recv() for receiver, _ in pipes]
    for worker in workers:
        worker.join()
    windows = zip(*rates, strict=True)
    return max((sum(rate for rate, _ in window), min(share for _, share in window)) for window in windows)


def work(kind: str, core: int, count: int, barrier: Barrier, sender: Connection) -> None:
    """Measures one core, and sends a list with (bytes a second, share of the core's time that this process got) for
    each window. All cores begin a window together."""
    os.sched_setaffinity(0, [core])
    sweep, rates = passes(kind, count), []
    sweep()
    for _ in range(WINDOWS):
        barrier.wait()
        start, worked, done = perf_counter(), process_time(), 0
        while (elapsed := perf_counter() - start) < WINDOW_SECONDS or not done:
            sweep()
            done += 1
        rates.append((done * KINDS[kind][1] * 4 * count / elapsed, (process_time() - worked) / elapsed))
    sender.send(rates)


def passes(kind: str, count: int) -> Callable[[], object]:
    """Returns a function that makes one pass over this process's arrays. NumPy needs two operations for the triad."""
    import numpy as np

    a, b, c = (np.full(count if n < KINDS[kind][0] else 0, float(n), np.float32) for n in range(3))

    def triad() -> None:
        np.multiply(c, np.float32(3.0), out=a)
        np.add(a, b, out=a)

    sweeps: dict[str, Callable[[], object]] = {"read": a.max, "copy": lambda: np.copyto(a, b), "triad": triad}
    return sweeps[kind]
