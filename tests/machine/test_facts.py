"""What is read of the machine."""

from __future__ import annotations

import pytest

from suite.errors import UserError
from suite.machine import facts


@pytest.mark.parametrize(
    ("system", "machine"), [("Darwin", "arm64"), ("Windows", "AMD64"), ("Linux", "aarch64"), ("Darwin", "x86_64")]
)
def test_another_platform_is_refused_in_one_line(system: str, machine: str) -> None:
    with pytest.raises(UserError) as refused:
        facts.refuse_platform(system, machine)
    assert str(refused.value) == f"Stack Wars runs on Linux on x86-64; this is {system} on {machine}."


# --- who this machine is ---

CPU = {
    "vendor_id": "AuthenticAMD",
    "model name": "AMD EPYC",
    "cpu family": "25",
    "model": "17",
    "stepping": "1",
    "flags": "fpu avx2 avx512f",
}


@pytest.mark.parametrize(
    ("name", "value"),
    [("cpu family", "26"), ("model", "2"), ("stepping", "2"), ("flags", "fpu avx2"), ("vendor_id", "GenuineIntel")],
)
def test_a_processor_of_the_same_name_is_another_machine(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(facts, "cpu_fields", lambda: CPU)
    ours = facts.machine_id()
    monkeypatch.setattr(facts, "cpu_fields", lambda: CPU | {name: value})
    assert facts.machine_id() != ours


def test_other_caches_are_another_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    ours = facts.machine_id()
    monkeypatch.setattr(facts, "cache_sizes", lambda: {"L3 Unified": "1K"})
    assert facts.machine_id() != ours


def test_this_machine_keeps_its_name() -> None:
    assert facts.machine_id() == facts.machine_id() == facts.machine()["machine_id"]


@pytest.mark.parametrize(
    "name",
    [
        "MALLOC_TRIM_THRESHOLD_",
        "THP_MEM_ALLOC_ENABLE",
        "LD_PRELOAD",
        "GLIBC_TUNABLES",
        "ONEDNN_MAX_CPU_ISA",
        "MKL_NUM_THREADS",
    ],
)
def test_variables_that_can_turn_a_result_are_recorded(name: str) -> None:
    assert facts.process({name: "1", "HOME": "/x"})["environment_variables"] == {name: "1"}


def test_a_process_with_fewer_cores_gets_whole_ones_first(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = {0: "0-1", 1: "0-1", 2: "2,6", 6: "2,6", 7: "", 8: "9"}
    monkeypatch.setattr(facts, "read", lambda path: pairs[int(path.split("cpu")[-1].partition("/")[0])])
    assert facts.apart(pairs) == [0, 2, 7, 8, 1, 6]


def test_hyperthreads_count_by_their_core(monkeypatch: pytest.MonkeyPatch) -> None:
    lists = {"cpu0": "0,4", "cpu4": "0,4", "cpu1": "1,5", "cpu5": "1,5"}
    monkeypatch.setattr(facts, "read", lambda path: lists.get(path.split("/")[5]))
    assert [facts.whole(cores) for cores in ([0, 4], [0, 1], [0, 1, 4, 5], [7])] == [1, 2, 2, 1]
