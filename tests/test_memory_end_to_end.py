"""Memory on real frameworks: peaks, what holds them, and every kind of refusal, by real allocations."""

from __future__ import annotations

import json
from typing import Any

import pytest

from suite import results
from suite.case import OUT_OF_MEMORY
from suite.stacks.catalog import STACKS
from tests.refusals import HUGE, WORDS
from tests.runs import PEAKS, STACKS_OF_PEAKS, UNWARMED, Asked, Lanes, of

pytestmark = pytest.mark.stacks
COMPILED_BY_XLA = {"jax_jit", "torch_xla", "torchax_jit", "tf_xla"}
SILENT = {"numpy", "jax_eager", "tf_eager"}  # nobody can tell what holds their memory
LIMITED = ("numpy", "torch_eager")
# Each by its own allocator.
REFUSING = {
    "refused": ("numpy", "jax_jit", "torch_eager", "tf_graph"),
    "refused by the rest": ("torch_inductor", "torch_xla"),
}
RUNS = PEAKS | {
    "refused": Asked(0.5, (*HUGE, *of(REFUSING["refused"])), module=UNWARMED),
    "refused by the rest": Asked(0.5, (*HUGE, *of(REFUSING["refused by the rest"])), module=UNWARMED, release=True),
    "limited": Asked(
        1,
        (
            "--purpose=memory",
            "--workload=gemm",
            "--pass=forward",
            "--dims=n=64",
            "--dims=n=16384",
            "--dims=n=20000",
            "--limit-memory=1GiB",
            *of(LIMITED),
        ),
    ),
    # Beside them processes of other tests run, which nothing of this may touch.
    "in a row": Asked(
        0.5,
        (
            "--purpose=memory",
            "--exhaustive",
            "--stack=numpy",
            "--workload=gemm",
            "--pass=forward",
            "--limit-memory=256MiB",
            *(f"--dims=n={n}" for n in range(12_001, 12_009)),
        ),
    ),
}


def rows_of(run: Any) -> list[Any]:
    """All rows of a run that ended well."""
    assert run.code == 0, run.log
    return results.load(run.folder).rows


@pytest.mark.parametrize("run", PEAKS)
def test_every_stack_tells_what_it_took(runs: Lanes, run: str) -> None:
    rows = [row for row in rows_of(runs[run]) if row["purpose"] == "memory"]
    assert {row["stack"] for row in rows} == set(STACKS_OF_PEAKS[run])
    for row in rows:
        assert row["outcome"] == "ok", (row["case_name"], row["reason"])
        assert 0 < row["host_base_bytes"] <= row["host_peak_build_bytes"]
        floor = row["floor_parameters_bytes"] + row["floor_optimizer_bytes"] + row["floor_inputs_bytes"]
        assert floor < row.peak_bytes < 2**31
        assert row["host_file_bytes"] < row["host_peak_step_bytes"]
        base = STACKS[row["stack"]].base_bytes
        assert base < 1.3 * (row["host_base_bytes"] - 0.5 * row["host_file_bytes"]), "what the catalogue says it needs"


@pytest.mark.parametrize("run", PEAKS)
def test_a_program_s_own_account_is_that_of_its_tensors(runs: Lanes, run: str) -> None:
    rows = {row["stack"]: row for row in rows_of(runs[run]) if row["purpose"] == "memory"}
    assert rows.keys() & {"jax_jit", "torchax_jit"}
    for stack in rows.keys() & {"jax_jit", "torchax_jit"}:
        row = rows[stack]
        state = row["floor_parameters_bytes"] + row["floor_optimizer_bytes"]
        assert row["program_argument_bytes"] == pytest.approx(state + row["floor_inputs_bytes"], rel=0.01)
        assert row["program_aliased_bytes"] == pytest.approx(state, rel=0.01), "the state is donated"
        assert row["program_temporary_bytes"] > 0
    silent = set(rows) & {"torch_eager", "tf_graph", "numpy"}
    assert all(rows[stack]["program_temporary_bytes"] is None for stack in silent)


@pytest.mark.parametrize("run", PEAKS)
def test_somebody_tells_what_holds_the_memory(runs: Lanes, run: str) -> None:
    rows = {row["stack"]: row for row in rows_of(runs[run]) if row["purpose"] == "explain"}
    assert {stack for stack, row in rows.items() if not row["holders"]} == SILENT & set(rows)
    for stack in set(rows) - SILENT:
        row, told = rows[stack], json.loads(rows[stack]["holders"])
        categories = told["categories"]
        state = row["floor_parameters_bytes"] + row["floor_optimizer_bytes"]
        assert 0 < len(told["largest"]) <= 10
        assert told["largest"] == sorted(told["largest"], key=lambda each: -each["bytes"])
        if stack in COMPILED_BY_XLA:
            assert told["told_by"] == "XLA's buffer assignment" and categories["temporaries"] > 0
            kept = sum(categories.get(name, 0) for name in ("parameters", "optimizer", "arguments"))
            assert state * 0.95 < kept < state * 1.3, (stack, categories)
        else:
            assert categories["parameters"] == row["floor_parameters_bytes"], (stack, categories)
            assert categories["optimizer"] == pytest.approx(row["floor_optimizer_bytes"], rel=0.01), stack
        assert sum(categories.values()) >= state


@pytest.mark.parametrize("run", REFUSING)
def test_an_allocation_that_is_refused_is_out_of_memory_in_each_framework_s_words(runs: Lanes, run: str) -> None:
    rows = {row["stack"]: row for row in rows_of(runs[run])}
    assert {stack: row["outcome"] for stack, row in rows.items()} == dict.fromkeys(REFUSING[run], "oom_host")
    for stack in rows.keys() & WORDS.keys():
        assert WORDS[stack] in rows[stack]["reason"]


@pytest.mark.runs("limited")
def test_what_is_larger_than_a_failure_isn_t_tried(runs: Lanes) -> None:
    by_stack: dict[str, dict[int, Any]] = {}
    for row in rows_of(runs["limited"]):
        by_stack.setdefault(row["stack"], {})[row.case.dims["n"]] = row
    assert set(by_stack) == set(LIMITED)
    for stack, rows in by_stack.items():
        assert rows[64]["outcome"] == "ok", (stack, rows[64]["reason"])
        assert rows[16384]["outcome"] in OUT_OF_MEMORY and rows[16384]["provenance"] == "measured"
        assert rows[20000]["outcome"] == rows[16384]["outcome"] and rows[20000]["provenance"] == "inferred"


@pytest.mark.runs("in a row")
@pytest.mark.release
def test_eight_in_a_row_are_eight_rows(runs: Lanes) -> None:
    rows = rows_of(runs["in a row"])
    assert len(rows) == 8
    for row in rows:
        assert (row["outcome"], row["provenance"]) == ("oom_host", "measured"), row["reason"]
        assert row["reason"].startswith("killed at its 256 MiB limit")
