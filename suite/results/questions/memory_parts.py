"""A row's peak of memory by its parts, over the least that any stack must hold."""

from __future__ import annotations

from itertools import pairwise

from suite.results.store.rows import Row

FLOORS = ("floor_parameters_bytes", "floor_optimizer_bytes", "floor_inputs_bytes")  # there between two steps
HOST = ("base", "placing", "stepping")

Parts = tuple[tuple[str, float], ...]  # (kind, bytes), from the floor up


def parts(row: Row) -> Parts:
    """A peak of host memory, pages of files left out, by when it was reached: before anything was placed, then beyond
    that. A device's peak is one part. Empty where a figure isn't known."""
    device = row.number("device_peak_bytes")
    if device is not None:
        return (("device", device),)
    base, build, step = (row.number(f"host_{name}_bytes") for name in ("base", "peak_build", "peak_step"))
    files = row.number("host_file_bytes")
    if base is None or build is None or step is None or files is None:
        return ()
    reached = [max(0.0, most - files) for most in (base, max(base, build), max(base, build, step))]
    return tuple((kind, end - begin) for kind, (begin, end) in zip(HOST, pairwise([0.0, *reached]), strict=True))


def floor_bytes(row: Row) -> float:
    """Parameters, the optimizer's moments and inputs; 0 where the row doesn't know them."""
    return sum(row.number(floor) or 0.0 for floor in FLOORS)


def total(split: Parts) -> float:
    """The peak."""
    return sum(size for _, size in split)
