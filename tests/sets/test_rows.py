"""A row read by type, and the rules of which rows count."""

from __future__ import annotations

import math

import pytest

from suite.case import Planned
from suite.errors import UserError
from suite.sets.rows import NOT_RUN, Row, counted, counted_timed, empty_row, unrun
from tests.plan_files import plan_file
from tests.results.rows import attempt_of, row_of

JAX = "jax_jit"


def test_a_row_with_other_columns_is_a_row() -> None:
    row = empty_row(attempt_of(JAX, variant="nightly")) | {"outcome": "ok"} | {"block": 3}
    assert type(row) is Row and (row["block"], row.outcome) == (3, "ok")
    assert row.stack_name == "jax_jit@nightly"
    assert row.case == attempt_of(JAX, variant="nightly").case
    assert row.comparison_name == "gemm-tiny-forward-f32-cpu"
    assert row.place == (row.case.case_id, 3, 1, "timed")


def test_what_is_unknown_reads_as_unknown() -> None:
    row = empty_row(attempt_of())
    assert (row.text("reason"), row.number("flops"), row.outcome, row.flags) == ("", None, "", ())
    assert row.mapping("versions") == {} and (row | {"versions": "[1]"}).mapping("versions") == {}
    assert list(row.samples()) == [] and row.median() is None and row.median("first") is None
    assert (row | {"flops": math.inf}).number("flops") is None
    assert (row | {"flops": 3}).number("flops") == 3.0
    assert dict(row.mapping("dims")) == {"n": 64}


def test_an_unknown_clock_is_refused_with_the_near_match() -> None:
    with pytest.raises(UserError, match=r"no clock 'sync'.*Did you mean 'synced'.*dispatch"):
        row_of(attempt_of()).samples("sync")


@pytest.mark.parametrize("outcome", ["wrong", "differ", "unsupported"])
@pytest.mark.parametrize("block", [1, 2])
def test_what_is_judged_in_one_block_holds_in_all_of_that_case(block: int, outcome: str) -> None:
    rows = [row_of(attempt_of(stack, b)) for stack in ("numpy", JAX) for b in (1, 2)]
    rows.append(row_of(attempt_of(JAX, 3), outcome="timeout", reason="x"))
    guilty = next(row for row in rows if row["stack"] == JAX and row["block"] == block)
    guilty |= {"outcome": outcome}
    assert [(row["stack"], row["block"], row.outcome) for row in counted(rows)] == [
        ("numpy", 1, "ok"),
        ("numpy", 2, "ok"),
        (JAX, 1, outcome),
        (JAX, 2, outcome),
        (JAX, 3, "timeout"),
    ]
    assert sum(row.outcome == "ok" for row in rows) == 3  # the rows themselves stay as they were measured
    assert counted(counted(rows)) == counted(rows) == counted_timed(counted(rows))


def test_planned_attempts_without_a_row() -> None:
    """Unsupported ones with their reason; a try of a block that was cut short is no row."""
    attempts = [attempt_of(stack, block) for block in (1, 2) for stack in ("numpy", JAX)]
    plan = plan_file(
        attempts=tuple(attempts), cases=(Planned(attempts[0].case), Planned(attempts[1].case, "no such dialect"))
    )
    missing = unrun(plan, [row_of(attempts[0], retry=2)])
    assert [(row["stack"], row["block"], row.outcome) for row in missing] == [
        (JAX, 1, "unsupported"),
        ("numpy", 2, NOT_RUN),
        (JAX, 2, "unsupported"),
    ]
    assert missing[0]["reason"] == "no such dialect" and "Resume" in missing[1]["reason"]
    assert unrun(None, []) == []
    assert len({row["machine_id"] for row in counted_timed([*missing, row_of(attempts[0])])}) == 2  # None is no machine


@pytest.mark.parametrize("block", [1, 2])
def test_a_case_that_is_implausible_in_one_block_has_no_time_in_any(block: int) -> None:
    rows = [row_of(attempt_of(stack, number), 0.01) for stack in ("numpy", JAX) for number in (1, 2)]
    rows = [row | {"flags": ["implausible"]} if (row["stack"], row["block"]) == (JAX, block) else row for row in rows]
    kept = counted(rows)
    assert [(row["stack"], row.outcome) for row in kept] == [("numpy", "ok")] * 2 + [(JAX, "implausible")] * 2
    assert all("less time than this machine needs" in row["reason"] for row in kept if row["stack"] == JAX)
    wrong = [row | {"outcome": "wrong"} if row["stack"] == JAX else row for row in rows]
    assert {row.outcome for row in counted(wrong) if row["stack"] == JAX} == {"wrong"}, "which is graver"


def test_a_column_of_json_null_says_nothing() -> None:
    assert row_of(attempt_of(), kernels="null").kernels == ""


# --- rounds ---

TURNS = {"sampling": "rounds", "synced_warmup": 1, "synced_rounds": [0, 0, 1, 1, 0, 2, 2]}


def test_only_the_samples_of_rounds_count() -> None:
    row = row_of(attempt_of(), [9.0, 8.0, 0.1, 0.3, 7.0, 0.2, 0.4], **TURNS)
    assert list(row.samples("synced")) == list(row.samples("dispatch")) == [0.1, 0.3, 0.2, 0.4]
    assert row.round_medians("synced") == pytest.approx({1: 0.2, 2: 0.3})
    assert row.round_medians("pipelined") == {} and len(row.samples("pipelined")) == 7
    assert row_of(attempt_of()).round_medians("synced") == {}


def test_a_disturbed_turn_is_none_unless_all_are() -> None:
    samples, others = [9.0, 8.0, 0.1, 0.3, 7.0, 0.2, 0.4], [None, 0.0, 0.5, 0.5, 0.0, 0.0, 0.0]
    row = row_of(attempt_of(), samples, **TURNS, synced_others=others)
    assert list(row.samples("synced")) == [0.2, 0.4] and row.round_medians("synced") == pytest.approx({2: 0.3})
    row = row_of(attempt_of(), samples, **TURNS, synced_others=[0.5] * 7)
    assert len(row.samples("synced")) == 4 and list(row.round_medians("synced")) == [1, 2]


def test_the_gates_memory_is_not_the_steps() -> None:
    """The cgroup is sampled until the end, so that it has the reference's memory where a process was gated."""
    figures = {"host_peak_build_bytes": 100, "host_peak_step_bytes": 150, "host_file_bytes": 20}
    compiled = Row(empty_row(attempt_of()) | figures | {"cgroup_anonymous_bytes": 400})
    assert compiled.peak_bytes == 400
    assert Row(compiled | {"relative_error": 1e-7}).peak_bytes == 130
    assert Row(compiled | {"relative_error": math.nan}).peak_bytes == 130
