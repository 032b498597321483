"""The machine in one line."""

from __future__ import annotations

from suite.machine import facts
from suite.machine.description import describe, moved, named, place

MACHINE = {
    "cpu_model": "AMD EPYC",
    "cpu_family_model_stepping": "26/2/1",
    "cores_online": 4,
    "cores_usable": [0, 1],
    "cpu_flags": ["fpu", "avx", "avx2", "avx512f", "avx512_vnni", "avx512_bf16", "hypervisor"],
    "hypervisor": True,
    "caches": {"L1 Data": "48K", "L1 Instruction": "32K", "L2 Unified": "1024K", "L3 Unified": "32768K"},
    "ram_bytes": 24 * 2**30,
}
CEILING = {"side": 1024, "threads": 2, "flops_per_second": 2.104e11}


def test_what_tells_two_processors_of_one_name_apart_is_in_the_line() -> None:
    assert describe(MACHINE, CEILING) == (
        "AMD EPYC (family 26, model 2, stepping 1), 2 of 4 cores, AVX-512, VNNI, BF16, L1 48K, L2 1024K, L3 32768K, "
        "24.0 GiB of memory, a virtual machine, reaches 210 GFLOP/s in f32 (matrix products of side 1024)"
    )


def test_a_run_names_its_machine_in_a_few_words() -> None:
    assert named(MACHINE) == "AMD EPYC, 2 of 4 cores, 24.0 GiB of memory"
    assert named({}) == "unknown processor"


def test_a_sentence_names_the_machine_only_if_cases_had_all_of_its_cores() -> None:
    row, not_run = {"machine_id": "a", "target": "cpu", "threads": 2}, {"machine_id": None}
    assert place(MACHINE, [row, row, not_run]) == "2-core AMD EPYC"
    assert place(MACHINE | {"threads_per_core": 2}, [row]) == "2-hyperthread AMD EPYC"
    for other in ({"threads": 1}, {"machine_id": "b"}, {"target": "cuda"}):
        assert place(MACHINE, [row, row | other]) == ""
    assert place({}, [row]) == place(MACHINE, []) == ""


def test_hyperthreads_are_no_cores() -> None:
    smt = MACHINE | {"threads_per_core": 2}
    assert "2 hyperthreads of 1 core (of 4 hyperthreads)" in named(smt | {"cores_whole": 1})
    assert "2 hyperthreads of 2 cores (of 4 hyperthreads)" in named(smt | {"cores_whole": 2})
    assert (
        named(smt | {"cores_whole": 1, "cores_online": 2}) == "AMD EPYC, 2 hyperthreads of 1 core, 24.0 GiB of memory"
    )
    assert "2 of 4 cores" in named(MACHINE | {"threads_per_core": 1, "cores_whole": 2})


def test_what_is_not_known_is_left_out() -> None:
    assert describe({"cpu_model": "X"}) == "X"
    assert describe({"cpu_model": "X", "cpu_flags": ["avx", "avx2"], "caches": {"L3 Unified": None}}) == "X, AVX2"


def test_a_ceiling_that_was_shared_says_so() -> None:
    line = describe(MACHINE, CEILING | {"cores_had": 0.42})
    assert "; these products got only 42% of the cores' time, because other programs were running meanwhile)" in line


def test_this_machine_can_be_described() -> None:
    assert "cores" in describe(facts.machine())


def test_a_ceiling_that_moved_is_told_and_a_small_change_is_not() -> None:
    first, same, slow = CEILING, CEILING | {"flops_per_second": 1.95e11}, CEILING | {"flops_per_second": 1.5e11}
    assert moved([]) is None
    assert moved([first, same]) is None
    said = moved([first, same, slow])
    assert moved([first, slow | {"cores_had": 0.5}]) is None, "that tells of something else that was running"
    assert said is not None and "150 GFLOP/s" in said and "210 GFLOP/s" in said and "(-29%)" in said
