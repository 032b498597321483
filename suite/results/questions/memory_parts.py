"""A row's peak memory (`Row.peak_bytes`) split into parts, and its floor: the least bytes that any stack must hold."""

from __future__ import annotations

from itertools import pairwise

from suite.sets.rows import Row

FLOORS = ("floor_parameters_bytes", "floor_optimizer_bytes", "floor_inputs_bytes")  # held between two steps
HOST = ("base", "placing", "stepping")

Parts = tuple[tuple[str, float], ...]  # (kind, bytes), from the bottom up


def parts(row: Row) -> Parts:
    """Returns the peak in parts: the bytes that each phase of `HOST` adds to the peak before it, and as `ended` the
    bytes that only the cgroup's samples show: those of compilers that had ended. A device's peak is one part. The sum
    is `row.peak_bytes`. Empty if a figure is unknown."""
    peak = row.peak_bytes
    if peak is None:
        return ()
    if row["target"] != "cpu":
        return (("device", peak),)
    base, build, step = (row.number(f"host_{name}_bytes") for name in ("base", "peak_build", "peak_step"))
    files = row.number("host_file_bytes")
    if base is None or build is None or step is None or files is None:
        return ()
    reached = [min(max(0.0, most - files), peak) for most in (base, max(base, build), max(base, build, step))]
    phases = tuple((kind, end - begin) for kind, (begin, end) in zip(HOST, pairwise([0.0, *reached]), strict=True))
    return (*phases, ("ended", peak - reached[-1])) if peak > reached[-1] else phases


def floor_bytes(row: Row) -> float:
    """Returns the bytes of parameters, the optimizer's moments and inputs; a figure that the row lacks counts as 0."""
    return sum(row.number(floor) or 0.0 for floor in FLOORS)


def total(split: Parts) -> float:
    return sum(size for _, size in split)
