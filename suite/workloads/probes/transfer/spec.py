"""Arrays on the host, the ways to the device and back, and the classes, by whether memory is shared."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

SAMPLES = 5
LATENCY_SAMPLES = 50
LINE = 64  # bytes; XLA shares the host's memory only if it begins at a multiple of this
OFF = 16  # bytes past such a multiple: there Linux's allocator lets large arrays begin
NOTHING_TO_PIN = "the host's memory is the device's: pinned or not, nothing has to cross a bus"


Host = NDArray[np.float32]
ToDevice = Callable[[Host], Any]
ToHost = Callable[[Any], Host]


def ones(size: int, past: int = OFF) -> Host:
    """An array on the host that begins `past` bytes after a multiple of `LINE`."""
    raw = np.empty(4 * size + 2 * LINE, np.uint8)
    start = -raw.ctypes.data % LINE + past
    array = raw[start : start + 4 * size].view(np.float32)
    array[...] = 1.0
    return array


def large(stack: Any, past: int = OFF) -> Host:
    return ones(stack.dims["mib"] * 2**18, past)


def shared_in(stack: Any, to_device: ToDevice, past: int = OFF) -> bool:
    """Whether the device sees what is written to the host's array after it went to the device."""
    host = large(stack, past)
    x = to_device(host)
    stack.wait(None, x)
    host[...] = 0.0
    return bool(stack.fetch(x + 0)[0] == 0.0)


def shared_out(stack: Any, x: Any, host: Host) -> bool:
    """Whether the device sees what is written to an array that came from it. The write is not by NumPy, to which the
    array may be read-only."""
    ctypes.memset(host.ctypes.data, 0, host.nbytes)
    return bool(stack.fetch(x + 0)[0] == 0.0)


def observe(stack: Any, recorder: Any, to_device: ToDevice, to_host: ToHost, convert: ToDevice | None = None) -> None:
    """Observes and records the aspects that are alike in all dialects. `convert` is a shorter way to the device than
    the one that is timed; None if there is none."""
    much, little = large(stack), ones(1)

    def way_back(host: Host, samples: int) -> list[float]:
        taken = []
        for _ in range(samples):
            x = to_device(host)  # a new one each time: some frameworks keep the array that NumPy got
            stack.wait(None, x)
            start = perf_counter()
            to_host(x)
            taken.append(perf_counter() - start)
        return taken

    def moved(taken: list[float], shared: bool) -> dict[str, Any]:
        return {"seconds": taken, "shared": shared, "bandwidth": None if shared else much.nbytes / median(taken)}

    into = shared_in(stack, to_device)
    taken = recorder.seconds(lambda: to_device(much), SAMPLES + 1)[1:]
    recorder.record("to_device", to_device, **moved(taken, into))
    taken = recorder.seconds(lambda: to_device(little), LATENCY_SAMPLES + 1)[1:]
    recorder.record("to_device_latency", to_device, seconds=taken)

    x = to_device(much)
    stack.wait(None, x)
    host = to_host(x)
    writable = host.flags.writeable
    out = shared_out(stack, x, host)
    recorder.record("to_host", to_host, **moved(way_back(much, SAMPLES + 1)[1:], out))
    recorder.record("to_host_latency", to_host, seconds=way_back(little, LATENCY_SAMPLES + 1)[1:])

    for aspect, way in (("copy_in", convert or to_device), ("copy_put", stack.put)):
        recorder.record(aspect, way, shared=shared_in(stack, way), shared_aligned=shared_in(stack, way, 0))
    recorder.record("copy_out", to_host, shared=out, writable=writable)


def observe_pinned(stack: Any, recorder: Any, to_device: Callable[[Any], Any], pinned: Any) -> None:
    """Observes the aspect `pinned` and records it. The array `pinned` is in pinned memory, which only devices behind a
    bus need."""
    seen = recorder.watch(lambda: to_device(pinned))
    if seen.error:
        recorder.record("pinned", to_device, seen)
        return
    taken = recorder.seconds(lambda: to_device(pinned), SAMPLES)
    recorder.record("pinned", to_device, seconds=taken, bandwidth=4 * stack.dims["mib"] * 2**18 / median(taken))


def classify(aspect: str, figures: Mapping[str, Any]) -> str:
    if "shared" not in figures:
        return "measured"
    if not figures["shared"]:
        return "aliases if aligned" if figures.get("shared_aligned") else "copies"
    return "aliases, read-only" if figures.get("writable") == 0 else "aliases"
