"""prealloc: the memory of a process."""

from __future__ import annotations

import pytest

from suite.workloads.catalog import HOME, load

SPEC = load(HOME / "probes" / "prealloc").spec


def test_a_process_measures_its_own_memory() -> None:
    made = []
    told = SPEC.memory_taken("json", lambda target: made.append(target) or bytearray(2**26), "cpu")
    assert made == ["cpu"]
    assert set(told) <= set(SPEC.FIGURES)
    assert told["python_bytes"] > 2**20
    assert 0 < told["share"] < 0.5


def test_a_field_that_is_not_there() -> None:
    with pytest.raises(RuntimeError, match="has no VmNothing"):
        SPEC.status("VmNothing")
