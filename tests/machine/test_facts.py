"""What is read of the machine."""

from __future__ import annotations

import pytest

from suite.errors import UserError
from suite.machine import facts
from suite.machine.description import describe


@pytest.mark.parametrize(
    ("system", "machine"), [("Darwin", "arm64"), ("Windows", "AMD64"), ("Linux", "armv7l"), ("Darwin", "x86_64")]
)
def test_another_platform_is_refused_in_one_line(system: str, machine: str) -> None:
    with pytest.raises(UserError) as refused:
        facts.refuse_platform(system, machine)
    only = "Stack Wars runs on Linux on x86-64 and aarch64 (64-bit ARM)"
    assert str(refused.value) == f"{only}; this is {system} on {machine}."


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_linux_on_both_processors_is_taken(machine: str) -> None:
    assert facts.refuse_platform("Linux", machine) == f"Linux on {machine}"


# --- ARM's cores have numbers in place of a name ---

GRAVITON3 = """\
processor	: 0
BogoMIPS	: 2100.00
Features	: fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics fphp asimdhp sve asimdfhm svei8mm svebf16 i8mm bf16
CPU implementer	: 0x41
CPU architecture: 8
CPU variant	: 0x1
CPU part	: 0xd40
CPU revision	: 1

processor	: 1
"""


def arm(monkeypatch: pytest.MonkeyPatch, cpuinfo: str, vector_bytes: str | None) -> None:
    """Makes this an ARM machine."""
    files = {"/proc/cpuinfo": cpuinfo, "/proc/sys/abi/sve_default_vector_length": vector_bytes}
    monkeypatch.setattr(facts.platform, "machine", lambda: "aarch64")
    monkeypatch.setattr(facts, "read", files.get)


def test_an_arm_core_has_the_facts_of_a_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    arm(monkeypatch, GRAVITON3, "32")
    found = facts.machine()
    assert (found["cpu_vendor"], found["cpu_model"]) == ("ARM", "ARM Neoverse-V1")
    assert found["cpu_family_model_stepping"] == "8/0xd40/r1p1"
    assert {"asimd", "sve", "sve256", "bf16"} <= set(found["cpu_flags"])
    assert found["hypervisor"] is None, "ARM's features don't tell"
    line = "ARM Neoverse-V1 (family 8, model 0xd40, stepping r1p1)"
    assert describe({**found, "cores_usable": None}).startswith(f"{line}, SVE of 256 bits, BF16, I8MM")
    ours = facts.machine_id()
    arm(monkeypatch, GRAVITON3.replace("0xd40", "0xd4f"), "16")
    assert facts.identity()["cpu_model"] == "ARM Neoverse-V2"
    assert facts.machine_id() != ours


def test_an_unknown_arm_core_has_its_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    unknown = GRAVITON3.replace("0x41", "0x7f").replace("0xd40", "0x123").replace(" sve ", " ").replace("bf16", "")
    arm(monkeypatch, unknown.replace("i8mm", ""), None)
    found = facts.identity()
    assert found["cpu_model"] == "implementer 0x7f part 0x123"
    assert describe(found).startswith("implementer 0x7f part 0x123 (family 8, model 0x123, stepping r1p1), NEON")


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
