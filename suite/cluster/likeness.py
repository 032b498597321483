"""Compares two machines: only if they are of one kind may their times stand on one page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from suite.machine.facts import PROCESSOR
from suite.sets.result_set import ResultSet

# The facts that are equal on machines of one kind, with their names in words.
ALIKE = {**PROCESSOR, "cores_online": "cores", "cores_usable": "usable cores", "ram_bytes": "memory"}
RAM_STEP = 2**30  # memory is compared in GiB, since the kernels of equal machines may reserve unequal amounts


def differences(first: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """Returns the facts in which two machines differ, in words; none if the machines are of one kind."""
    return [words for name, words in ALIKE.items() if comparable(name, first) != comparable(name, other)]


def comparable(name: str, machine: Mapping[str, Any]) -> Any:
    """Returns a machine's fact in a form that is equal on machines of one kind: how many cores rather than which,
    memory rounded to GiB, lists sorted."""
    value = machine.get(name)
    if name == "cores_usable":
        return len(value or ())
    if name == "ram_bytes":
        return round((value or 0) / RAM_STEP)
    return sorted(value) if isinstance(value, list) else value


def devices_of(shares: Iterable[ResultSet]) -> set[str]:
    """Returns the names of the accelerators that frameworks reported in the rows of these shares; none for CPUs, which
    frameworks don't report."""
    rows = (row for store in shares if store.plan_file.target != "cpu" for row in store.rows())
    return {row.reported_device for row in rows} - {""}
