"""The ceiling of every set, and what a resume says of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from suite.case import Planned, Purpose
from suite.environments.locks import Locks
from suite.ir.summary import Program
from suite.machine import roofline
from suite.machine.bandwidth import Caches
from suite.machine.description import moved
from suite.machine.roofline import MemoryLevel, Roofline
from suite.results.limits import SpeedLimit
from suite.run import ceilings
from suite.sets.result_set import ResultSet
from suite.sets.rows import Row, counted, counted_timed
from suite.workloads import catalog
from tests.ir.programs import program
from tests.plan_files import plan_file
from tests.results.rows import attempt_of, record, row_of

CPU = Locks("cpu")
WORKLOADS = catalog.find()


@pytest.fixture
def paces(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """What the next readings are, in operations a second."""
    queue: list[float] = []
    monkeypatch.setattr(
        ceilings,
        "reading",
        lambda cores, places=(): {
            "measured_at": "2026-03-01T12:30:00+00:00",
            "threads": 2,
            "side": 1024,
            "flops_per_second": queue.pop(0),
        },
    )
    monkeypatch.setattr(ceilings, "PAUSE_SECONDS", 0.0)
    return queue


def new_set(folder: Path, **protocol: Any) -> ResultSet:
    """A set that is about to be measured, without a sweep."""
    from suite.protocol import Protocol

    return ResultSet.create(folder / "set", plan_file(protocol=Protocol(roofline=False, **protocol)))


def test_every_set_has_a_ceiling(tmp_path: Path, paces: list[float]) -> None:
    store = new_set(tmp_path)
    paces += [2e11]
    assert ceilings.measure(store, CPU, WORKLOADS) == []
    assert [each["flops_per_second"] for each in store.ceilings] == [2e11]
    assert Roofline.of(store.roofline, store.ceilings) == Roofline({"f32": 2e11})
    store.seal()
    assert store.problems() == []


@pytest.mark.parametrize(
    ("now", "said"),
    [([2.1e11], ""), ([1.5e11, 1.9e11], ""), ([1.5e11, 1.6e11, 1.4e11], "(-20%)"), ([3e11, 3e11, 3e11], "(+50%)")],
    ids=["same", "a bad moment", "slower", "faster"],
)
def test_a_resumed_set_notices_a_ceiling_that_has_changed(
    now: list[float], said: str, tmp_path: Path, paces: list[float]
) -> None:
    store = new_set(tmp_path)
    paces += [2e11, *now]
    ceilings.measure(store, CPU, WORKLOADS)
    told = " ".join(ceilings.measure(store, CPU, WORKLOADS))
    assert paces == [], "it looks again before it says so, and no more than that"
    assert bool(told) == bool(said) and said in told
    assert ("stop now" in told) == bool(said), "what to do"
    assert [each["flops_per_second"] for each in store.ceilings] == [2e11, max(now)]


def test_a_busy_machine_s_ceiling_is_taken_again_and_said(
    tmp_path: Path, paces: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = new_set(tmp_path)
    paces += [2e11, 1e11, 1.1e11, 1.2e11]
    alone = ceilings.reading
    ceilings.measure(store, CPU, WORKLOADS)
    monkeypatch.setattr(ceilings, "reading", lambda cores, places=(): alone(cores) | {"cores_had": 0.5})
    [said] = ceilings.measure(store, CPU, WORKLOADS)
    assert "50% of its cores' time" in said and paces == []
    assert [each["flops_per_second"] for each in store.ceilings] == [2e11, 1.2e11]


def test_an_accelerator_has_no_ceiling_here(tmp_path: Path, paces: list[float]) -> None:
    store = ResultSet.create(tmp_path / "set", plan_file(target="cuda"))
    assert ceilings.measure(store, CPU, WORKLOADS) == []
    assert store.ceilings == [] and store.roofline == {}


def test_a_reading_is_really_taken_in_a_process_of_its_own() -> None:
    found = ceilings.reading((0,))
    assert (found["threads"], found["side"]) == (1, roofline.CEILING_SIDE)
    assert found["flops_per_second"] > 1e8


def test_a_job_that_fails_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    from suite.errors import UserError

    with pytest.raises(UserError, match="couldn't be measured"):
        ceilings.reading((10**6,))


@pytest.mark.parametrize(
    ("inner", "last", "places"), [(1, 2, ("cache", "memory")), (1, 2**40, ("cache",)), (2**40, 2**41, ())]
)
def test_a_bandwidth_is_measured_where_some_case_exceeds_the_caches(
    inner: int, last: int, places: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ceilings, "caches", lambda cores: Caches(last, inner))
    store = ResultSet.create(tmp_path / "set", plan_file(cases=(Planned(attempt_of().case),)))
    assert ceilings.places_needed(store, WORKLOADS) == places


def test_a_reading_in_doubt_raises_the_limits_and_tells_of_no_other_machine(tmp_path: Path, paces: list[float]) -> None:
    store = new_set(tmp_path)
    paces += [2e11, 3e11]
    ceilings.measure(store, CPU, WORKLOADS)
    assert ceilings.again(store, WORKLOADS) == Roofline({"f32": 3e11})
    assert [each.get("in_doubt") for each in store.ceilings] == [None, True]
    assert moved(store.ceilings) is None


def test_a_run_s_own_bandwidth_is_a_limit_and_no_roof_for_efficiency() -> None:
    reading = {
        "flops_per_second": 2e11,
        "bytes_per_second_best": 1e10,
        "cache_bytes": 2**20,
        "inner_cache_bytes": 2**10,
    }
    slower = {"flops_per_second_best": 1e11, "bytes_per_second_best": 5e9, "cache_bytes": 2**20}
    assert Roofline.of({}, [reading]) == Roofline({"f32": 2e11})
    assert Roofline.limits({}, [reading]) == Roofline({"f32": 2e11}, (MemoryLevel(1e10, 2**20),))
    assert Roofline.limits(slower, [reading]) == Roofline({"f32": 2e11}, (MemoryLevel(1e10, 2**20),))
    assert Roofline.limits(slower, [reading | {"cores_had": 0.5}]) == Roofline(
        {"f32": 1e11}, (MemoryLevel(5e9, 2**20),)
    )
    assert Roofline.limits({}, []) is None


def test_a_process_that_is_faster_than_its_own_program_has_a_further_row(tmp_path: Path) -> None:
    store = new_set(tmp_path)
    timed, kept = row_of(attempt_of()), row_of(attempt_of(block=0, purpose=Purpose.IR))
    kept |= {"programs": json.dumps([asdict(program())])}
    for row in (timed, kept, row_of(attempt_of(stack="jax_jit"))):
        store.write_attempt(row.attempt_name, row)
    store.write_block(1, 1, record(1, 1))
    asked = []

    def too_fast(row: Row, programs: Sequence[Program]) -> SpeedLimit:
        asked.append((row["stack"], len(programs)))
        return SpeedLimit("FLOPs", 2e9, 1e9, "this machine", "its own compiled program's")

    (flagged,) = ceilings.hold_against_programs(store, too_fast)
    assert asked == [("numpy", 1)], "a case without a program isn't held against one"
    assert (flagged["retry"], flagged.flags) == (2, ("implausible",))
    assert flagged["reason"].startswith(
        "a step took 10.0 ms; its own compiled program's 2.00 GFLOP take at least 2.00 s"
    )
    assert [row.outcome for row in counted_timed(counted(store.merged())) if row["stack"] == "numpy"] == ["implausible"]
    assert ceilings.hold_against_programs(store, too_fast) == [], "once"
