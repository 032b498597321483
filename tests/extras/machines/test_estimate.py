"""How long a shard takes: by earlier sets where they tell, else by the plan's guess."""

from __future__ import annotations

import dataclasses
from datetime import timedelta
from pathlib import Path

import pytest

from suite.case import Purpose
from suite.extras.archive.publish import publish
from suite.extras.archive.storage import Storage
from suite.extras.machines import command as cloud
from suite.extras.machines import estimate
from suite.plan import layout, preset
from suite.plan.durations import plan_seconds
from suite.plan.planning import Selection, make
from suite.sets.parquet import read_rows
from suite.sets.plan import Plan
from suite.sets.rows import Row
from suite.workloads.catalog import find
from tests.results.rows import WHEN, attempt_of, make_set, record, row_of

WORKLOADS = find()
SETS = Path(__file__).parents[2] / "results" / "sets"


def plan_of(name: str = "ops", stacks: tuple[str, ...] = ("numpy", "jax_jit"), target: str = "cpu") -> Plan:
    """A preset's plan on a machine that has everything."""
    asked = Selection(stacks=stacks, target=target, device=target)
    return make("set", preset.load(name), asked, WORKLOADS, None, lambda *_: None)


def processes(taken: dict[str, list[float]]) -> list[Row]:
    """Rows of blocks whose processes took so many seconds each, and a last one in each block that nothing follows."""
    rows = []
    for block in range(1, len(next(iter(taken.values()))) + 1):
        after = 0.0
        for order, (stack, seconds) in enumerate([*taken.items(), ("tf_graph", [0.0] * 9)], 1):
            asked = attempt_of(stack, block, order=order, size="full", dims={"n": 4096})
            rows.append(row_of(asked, started_at=WHEN + timedelta(seconds=after)))
            after += seconds[block - 1]
    return rows


def test_a_process_takes_until_the_next_begins() -> None:
    known = estimate.wall_seconds(processes({"numpy": [3.0, 5.0, 40.0], "jax_jit": [8.0, 9.0, 10.0]}))
    assert known == {
        ("gemm", "full", "forward", "numpy", "timed"): 5.0,
        ("gemm", "full", "forward", "jax_jit", "timed"): 9.0,
    }


def test_nothing_is_told_across_a_gap_or_of_what_did_not_run() -> None:
    rows = processes({"numpy": [3.0], "jax_jit": [8.0]})
    del rows[1]  # what stood between is lost
    assert estimate.wall_seconds(rows) == {}
    idle = [row | {"outcome": "unsupported"} for row in processes({"numpy": [3.0]})]
    assert estimate.wall_seconds(idle) == {}
    assert estimate.wall_seconds([row | {"block": 0} for row in processes({"numpy": [3.0]})]) == {}


def test_earlier_sets_stand_in_for_the_guess_where_they_tell() -> None:
    plan = plan_of()
    plan = dataclasses.replace(
        plan,
        twin=False,
        protocol=dataclasses.replace(plan.protocol, blocks=2, blocks_max=4, explain=False, ir=False, profile=False),
    )
    alone = tuple(each for each in plan.cases if (each.case.workload, each.case.pass_) == ("gemm", "forward"))
    plan = dataclasses.replace(plan, cases=alone)
    whole = {("gemm", alone[0].case.size, "forward", stack, "timed"): 30.0 for stack in ("numpy", "jax_jit")}
    (shard,) = estimate.shards_of(plan, 1, WORKLOADS, whole)
    assert (shard.processes, shard.known, shard.seconds, shard.most_seconds) == (4, 4, 120.0, 240.0)
    (half,) = estimate.shards_of(plan, 1, WORKLOADS, {next(iter(whole)): 30.0})
    (rough,) = estimate.shards_of(plan, 1, WORKLOADS, {})
    assert (half.known, rough.known) == (2, 0)
    assert rough.seconds == pytest.approx(plan_seconds(plan, WORKLOADS)), "the dry run's figure"
    assert estimate.longest([shard, rough]) == max(240.0, rough.most_seconds)


def test_sets_here_and_archived_ones_tell_the_same(tmp_path: Path) -> None:
    rows = processes({"numpy": [3.0, 5.0, 40.0], "jax_jit": [8.0, 9.0, 10.0]})
    stored = make_set(tmp_path / "results" / "a-set", rows, [record(block, 1) for block in (1, 2, 3)])
    stored.commit()
    publish(stored.folder, Storage.of(str(tmp_path / "shelf")), print)
    here = cloud.earlier(tmp_path / "results", None, "cpu")
    assert len(here) == len(rows) and estimate.wall_seconds(here) == estimate.wall_seconds(rows)
    assert estimate.wall_seconds(cloud.earlier(tmp_path, str(tmp_path / "shelf"), "cpu")) == estimate.wall_seconds(rows)
    assert cloud.earlier(tmp_path / "results", None, "tpu") == [], "other hardware tells nothing"


@pytest.mark.parametrize("stored", ["three_questions", "two_passes"])
def test_measured_sets_tell(stored: str) -> None:
    assert estimate.wall_seconds(read_rows(SETS / stored / "results.parquet", estimate.COLUMNS))


def test_what_is_unsupported_takes_no_time_and_primes_are_part_of_what_follows() -> None:
    plan = plan_of(stacks=("numpy",), target="tpu")
    assert [shard.seconds for shard in estimate.shards_of(plan, 2, WORKLOADS, {})] == [0.0, 0.0]
    warm = make(
        "set", preset.load("tiny"), Selection(stacks=("jax_jit",), caches=("warm",)), WORKLOADS, None, lambda *_: None
    )
    assert any(attempt.purpose is Purpose.PRIME for attempt in layout.attempts(warm))
    (shard,) = estimate.shards_of(warm, 1, WORKLOADS, {})
    assert shard.seconds == pytest.approx(plan_seconds(warm, WORKLOADS))
