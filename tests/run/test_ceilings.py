"""The ceiling of every set, and what a resume says of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from suite.machine import roofline
from suite.machine.roofline import Roofline
from suite.results.store.result_set import ResultSet
from suite.run import ceilings
from tests.plan_files import plan_file


@pytest.fixture
def paces(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """What the next readings are, in operations a second."""
    queue: list[float] = []
    monkeypatch.setattr(
        ceilings,
        "reading",
        lambda cores: {
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
    assert ceilings.measure(store) == []
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
    ceilings.measure(store)
    told = " ".join(ceilings.measure(store))
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
    ceilings.measure(store)
    monkeypatch.setattr(ceilings, "reading", lambda cores: alone(cores) | {"cores_had": 0.5})
    [said] = ceilings.measure(store)
    assert "with 50% of its cores" in said and paces == []
    assert [each["flops_per_second"] for each in store.ceilings] == [2e11, 1.2e11]


def test_an_accelerator_has_no_ceiling_here(tmp_path: Path, paces: list[float]) -> None:
    store = ResultSet.create(tmp_path / "set", plan_file(target="cuda"))
    assert ceilings.measure(store) == []
    assert store.ceilings == [] and store.roofline == {}


def test_a_reading_is_really_taken_in_a_process_of_its_own() -> None:
    found = ceilings.reading((0,))
    assert (found["threads"], found["side"]) == (1, roofline.CEILING_SIDE)
    assert found["flops_per_second"] > 1e8


def test_a_job_that_fails_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    from suite.errors import UserError

    with pytest.raises(UserError, match="couldn't be measured"):
        ceilings.reading((10**6,))
