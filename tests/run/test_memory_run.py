"""Memory processes end to end on the fake stack: real limits, real allocations, what is spared and what is searched."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from suite import results
from suite.case import Purpose
from suite.plan.planning import Selection, make
from suite.plan.preset import Preset, Question
from suite.plan.search.capacity import memory_of
from suite.protocol import Protocol
from suite.sets.plan import Plan
from suite.sets.rows import Row
from suite.stacks import catalog
from suite.workloads.catalog import find
from tests.pipeline import QUICK, Heard, make_session
from tests.scenes import FAKE, SCENARIOS

MIB = 2**20
FIXED, SAMPLE = 40, 20  # MiB, as the ballast allocates them


def plan_of(
    *batches: int,
    limits: tuple[int, ...] = (),
    stacks: tuple[str, ...] = ("fake",),
    vary: str = "",
    exhaustive: bool = False,
    **constants: Any,
) -> Plan:
    """A plan of memory processes of the ballast."""
    catalog.add([FAKE])
    question = Question("ballast", "train", None, {"batch": batches} if batches else {})
    protocol = Protocol(**QUICK | constants)
    preset = Preset(
        name="test",
        path=Path("test.toml"),
        title="test",
        size="tiny",
        baseline=stacks[0],
        stacks=stacks,
        twin=False,
        questions=(question,),
        protocol=protocol,
        purpose=Purpose.MEMORY,
    )
    selection = Selection(threads=(1,), limits=limits, vary=vary, exhaustive=exhaustive)
    return make("set", preset, selection, find([SCENARIOS]), None, lambda *_: None)


def run(folder: Path, plan: Plan, heard: Heard | None = None) -> dict[tuple[str, int], Row]:
    """Its rows by stack and batch."""
    rows = make_session(folder / "set", plan, heard).run()
    return {(row.stack_name, row.case.dims["batch"]): row for row in rows}


def test_a_memory_process_tells_its_peaks_and_nothing_of_time(tmp_path: Path) -> None:
    rows = run(tmp_path, plan_of(1, 4))
    small, large = rows["fake", 1], rows["fake", 4]
    for row, batch in ((small, 1), (large, 4)):
        assert (row["outcome"], row["purpose"], row["block"], row["phase"]) == ("ok", "memory", 0, "end"), row["reason"]
        assert row["host_base_bytes"] < row["host_peak_build_bytes"] < row["host_peak_step_bytes"]
        assert row["host_peak_build_bytes"] - row["host_base_bytes"] >= FIXED * MIB
        assert row["host_peak_step_bytes"] >= row["host_base_bytes"] + (FIXED + SAMPLE * batch) * MIB
        assert row["host_file_bytes"] > 0
        assert row["synced_seconds"] is None and row["first_seconds"] is None and row["relative_error"] is None
        assert (row["floor_parameters_bytes"], row["floor_gradients_bytes"], row["floor_optimizer_bytes"]) == (
            16,
            16,
            32,
        )
        assert row["floor_inputs_bytes"] == 2 * 16 * batch
    assert large.peak_bytes - small.peak_bytes == pytest.approx(3 * SAMPLE * MIB, rel=0.1)


def test_what_is_larger_than_a_failure_is_inferred_from_it(tmp_path: Path) -> None:
    rows = run(tmp_path, plan_of(16, 1, 8, 32, limits=(200 * MIB,)))
    assert [rows["fake", b]["outcome"] for b in (1, 8, 16, 32)] == ["ok", "oom_host", "oom_host", "oom_host"]
    assert [rows["fake", b]["provenance"] for b in (1, 8, 16, 32)] == ["measured", "measured", "inferred", "inferred"]
    assert rows["fake", 32]["inferred_from"].startswith("ballast-custom-batch=8,width=4-train-f32-cpu-system_allocator")
    assert "needs no less than ballast-custom-batch=8" in rows["fake", 32]["reason"]
    assert rows["fake", 8]["phase"] in ("first", "second"), "killed where it was taken"


def test_exhaustive_tries_everything(tmp_path: Path) -> None:
    rows = run(tmp_path, plan_of(8, 16, limits=(200 * MIB,), exhaustive=True))
    assert {row["provenance"] for row in rows.values()} == {"measured"}


def test_a_smaller_limit_is_spared_after_a_larger_one_has_failed(tmp_path: Path) -> None:
    rows = make_session(tmp_path / "set", plan_of(8, limits=(150 * MIB, 200 * MIB))).run()
    assert [(row["limit_memory_bytes"] // MIB, row["provenance"]) for row in rows] == [
        (200, "measured"),
        (150, "inferred"),
    ]


def test_the_largest_batch_is_found_and_the_next_one_has_failed(tmp_path: Path) -> None:
    limit = 500 * MIB
    rows = run(tmp_path, plan_of(limits=(limit,), vary="batch"))
    (question,) = memory_of(results.load(tmp_path / "set").analysis())
    (line,) = question.stacks
    assert line.is_found and line.bracket.low is not None
    assert (
        rows["fake", line.bracket.low]["outcome"] == "ok"
        and rows["fake", line.bracket.low + 1]["outcome"] == "oom_host"
    )
    assert line.curve is not None and line.curve.error < 0.05
    assert abs((line.predicted or 0) - line.bracket.low) <= 1
    assert line.curve.item_bytes == pytest.approx(SAMPLE * MIB, rel=0.05)
    assert len(rows) <= 8


def test_a_search_with_a_tolerance_ends_between_two_sizes(tmp_path: Path) -> None:
    rows = run(tmp_path, plan_of(limits=(700 * MIB,), vary="batch", search_tolerance=0.2))
    (question,) = memory_of(results.load(tmp_path / "set").analysis())
    (line,) = question.stacks
    assert question.tolerance == 0.2 and line.bracket.low is not None and line.bracket.high is not None
    assert (
        rows["fake", line.bracket.low]["outcome"] == "ok" and rows["fake", line.bracket.high]["outcome"] == "oom_host"
    )
    assert 1 < line.bracket.high - line.bracket.low <= 0.2 * line.bracket.low


def test_the_search_ends_at_what_the_workload_allows(tmp_path: Path) -> None:
    rows = run(tmp_path, plan_of(limits=(2048 * MIB,), vary="batch"))
    assert max(batch for _, batch in rows) == 36
    (question,) = memory_of(results.load(tmp_path / "set").analysis())
    assert (question.stacks[0].bracket.low, question.stacks[0].bracket.high, question.stacks[0].is_found) == (
        36,
        None,
        False,
    )


def test_another_failure_ends_a_search_but_not_the_others(tmp_path: Path) -> None:
    rows = run(tmp_path, plan_of(limits=(300 * MIB,), stacks=("fake@broken", "fake"), vary="batch"))
    broken = {batch: row["outcome"] for (stack, batch), row in rows.items() if stack == "fake@broken"}
    assert list(broken.values()).count("error") == 1 and max(broken) >= 4
    assert any(row["outcome"] == "oom_host" for (stack, _), row in rows.items() if stack == "fake")


@pytest.mark.release
def test_a_search_goes_on_from_a_probe_that_is_asked_again(tmp_path: Path) -> None:
    plan = plan_of(limits=(300 * MIB,), stacks=("fake@broken", "fake"), vary="batch")
    run(tmp_path, plan)
    heard = Heard()
    make_session(tmp_path / "set", plan, heard).run()
    assert not heard.rows, "nothing is asked twice unasked"
    make_session(tmp_path / "set", plan, heard, frozenset({"error"})).run()
    (row,) = heard.rows
    assert (row["variant"], row["outcome"], row["provenance"]) == ("broken", "error", "measured")


@pytest.mark.parametrize("vary", ["", "batch"])
def test_an_interrupted_set_is_completed_without_asking_twice(tmp_path: Path, vary: str) -> None:
    batches = () if vary else (1, 2, 4, 8)
    plan = plan_of(*batches, limits=(200 * MIB,), vary=vary)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, plan, Heard(interrupt_after=2))
    heard = Heard()
    rows = make_session(tmp_path / "set", plan, heard).run()
    keys = [(row["case_id"], row["purpose"]) for row in rows]
    assert len(keys) == len(set(keys)), "no case twice"
    assert len(rows) == 2 + len(heard.rows)
    assert any(row["outcome"] == "oom_host" for row in rows)


def test_a_case_that_is_predicted_to_be_too_large_is_not_run(tmp_path: Path) -> None:
    import dataclasses

    plan = plan_of(1)
    reason = "needs about 61.0 GiB"
    cases = tuple(dataclasses.replace(planned, too_large=reason) for planned in plan.cases)
    rows = run(tmp_path, dataclasses.replace(plan, cases=cases))
    row = rows["fake", 1]
    assert (row["outcome"], row["provenance"], row["reason"]) == ("oom_host", "predicted", reason)
    assert not list((tmp_path / "set" / "logs").glob("*"))
    kept: dict[str, Any] = json.loads((tmp_path / "set" / "plan.json").read_text())
    assert kept["cases"][0]["too_large"] == reason and kept["purpose"] == "memory"
