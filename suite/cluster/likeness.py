"""Whether two machines are of one kind, so that their times may stand on one page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from suite.machine.facts import PROCESSOR
from suite.results.store.parquet.reader import read_parquet
from suite.results.store.result_set import ResultSet

# The facts that machines of one kind have in common, in words.
ALIKE = {**PROCESSOR, "cores_online": "cores", "cores_usable": "usable cores", "ram_bytes": "memory"}
RAM_STEP = 2**30  # machines of one kind differ by what their kernels keep for themselves


def differences(first: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """Returns in words in which facts two machines differ; nothing if they are of one kind."""
    return [words for name, words in ALIKE.items() if comparable(name, first) != comparable(name, other)]


def comparable(name: str, machine: Mapping[str, Any]) -> Any:
    """Returns a machine's fact without what differs between machines of one kind: numbers of cores, order of lists."""
    value = machine.get(name)
    if name == "cores_usable":
        return len(value or ())
    if name == "ram_bytes":
        return round((value or 0) / RAM_STEP)
    return sorted(value) if isinstance(value, list) else value


def devices_of(shares: Iterable[ResultSet]) -> set[str]:
    """Returns the accelerators that frameworks say they ran on; none for CPUs, which frameworks don't name."""
    rows = (row for store in shares if store.plan_file.target != "cpu" for row in read_parquet(store.results_path))
    return {str(device) for row in rows if (device := row.mapping("environment_facts").get("device"))}
