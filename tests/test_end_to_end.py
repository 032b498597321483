"""Real frameworks, real processes, the command line: every stack on every operation, and every mutant."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from suite import results
from suite.case import TRACKS
from suite.sets.result_set import ResultSet
from suite.stacks import knobs
from suite.stacks.catalog import STACKS
from suite.stacks.torch import mkl_path
from suite.stacks.xla import compiler
from tests.mutations import MUTANTS, make_mutant
from tests.results.rows import ratios
from tests.runs import EVERY_OPERATION, EXPORTED, FEW, ON_CPU, REST, TOGETHER, UNWARMED, Asked, Lanes, of

pytestmark = pytest.mark.stacks
MUTATED = ("numpy", "jax_jit", "torch_eager", "tf_graph")  # one stack of each dialect
WORKLOADS = ("gemm", "ffn", "mha", "selu")
# PyTorch/XLA 2.9 takes ELU's input for its output when it computes the gradient (pytorch/xla#2694).
WRONG = ("selu", "train", "torch_xla")


def mutants(folder: Path) -> list[str]:
    return [make_mutant(name, folder).name for name in MUTANTS]


MIXED = ("--precision=bf16", "--track=default", "--track=tuned", "--workload=ffn", "--pass=train")
RUNS = EVERY_OPERATION | {
    "wrong": Asked(1, ("--pass=train", *of(MUTATED)), mutants, module=TOGETHER),
    # On all cores: every stack is seen with as many threads as it may have.
    "mixed": Asked(1, (*MIXED, *of(FEW)), all_cores=True, module=UNWARMED),
    "mixed of the rest": Asked(2, (*MIXED, *of(REST)), all_cores=True, module=UNWARMED, release=True),
    "loops": Asked(1, ("--workload=rnn", *of(FEW)), module=TOGETHER),
    "loops of the rest": Asked(3, ("--workload=rnn", *of(REST)), module=TOGETHER, release=True),
    "rounds": Asked(
        1,
        (
            "--stack=numpy",
            "--stack=jax_jit",
            "--baseline=numpy",
            "--workload=gemm",
            "--pass=forward",
            "--sampling=rounds",
        ),
    ),
}
every_operation = pytest.mark.runs(*EVERY_OPERATION)


@pytest.fixture(scope="module")
def rows(runs: Lanes) -> list[dict[str, Any]]:
    """The rows of all."""
    ended = {name: runs[name] for name in EVERY_OPERATION}
    codes = {name: run.code for name, run in ended.items()}
    assert codes == dict.fromkeys(EVERY_OPERATION, 0) | {"train": 3}, "\n".join(run.log for run in ended.values())
    return [row for run in ended.values() for row in results.load(run.folder).rows]


def question_of(row: dict[str, Any]) -> tuple[str, str, str]:
    return row["workload"], row["pass"], row["stack"]


@every_operation
def test_every_stack_computes_every_operation_and_says_so(rows: list[dict[str, Any]]) -> None:
    bad = {question_of(row): (row["outcome"], row["reason"]) for row in rows if row["outcome"] != "ok"}
    assert set(bad) == {WRONG}, bad
    assert bad[WRONG][0] == "wrong" and "gradient of x: relative error" in bad[WRONG][1]
    found = sorted(map(question_of, rows))
    every = itertools.product(WORKLOADS, ("forward", "train"), ON_CPU)
    assert found == sorted(case for case in every if case[1] == "forward" or case[2] not in EXPORTED)


@every_operation
def test_errors_are_far_under_the_tolerance(rows: list[dict[str, Any]]) -> None:
    assert all(0 < row["relative_error"] < 5e-6 for row in rows if question_of(row) != WRONG)


@every_operation
def test_f32_is_what_was_seen(rows: list[dict[str, Any]]) -> None:
    assert {row["precision_observed"] for row in rows} == {"f32"}


@pytest.mark.parametrize(("run", "stacks"), [("mixed", FEW), ("mixed of the rest", REST)])
def test_bf16_and_the_tuned_track(runs: Lanes, run: str, stacks: Sequence[str]) -> None:
    assert runs[run].code == 0, runs[run].log
    found = {(row["stack"], row["track"]): row for row in results.load(runs[run].folder).rows}
    assert found.keys() == {*itertools.product(stacks, TRACKS)}
    is_amd = mkl_path.KNOB.processor in knobs.processor_flags()
    without_mkl_path = () if is_amd else ("torch_eager", "torch_inductor")
    has_wide_vectors = compiler.KNOBS[0].processor in knobs.processor_flags()
    without_wide_vectors = () if has_wide_vectors else ("jax_jit", "torchax_jit", "tf_xla")
    unsupported = {
        *(("numpy", track) for track in TRACKS),
        *(
            (stack, "tuned")
            for stack in ("jax_eager", "tf_eager", "tf_graph", *without_mkl_path, *without_wide_vectors)
        ),
    }
    assert {case for case, row in found.items() if row["outcome"] == "unsupported"} == unsupported & found.keys()
    for case, row in found.items():
        if row["outcome"] != "unsupported":
            assert (row["outcome"], row["precision_observed"]) == ("ok", "bf16"), (case, row["reason"])
            # Under it the step was computed in float32, whatever the probe says of a single product.
            assert 1e-4 < row["relative_error"] < 2e-2, case
            tuned = json.loads(row["environment_facts"])["tuned"]
            assert bool(tuned) == (row["track"] == "tuned"), case
            assert ("tuned" in row["case_name"]) == (row["track"] == "tuned")
            assert row["threads"] == len(os.sched_getaffinity(0))


@pytest.mark.parametrize(("run", "stacks"), [("loops", FEW), ("loops of the rest", REST)])
def test_a_loop_over_steps_is_right_and_says_what_compiles_again_or_not_at_all(
    runs: Lanes, run: str, stacks: Sequence[str]
) -> None:
    assert runs[run].code == 0, runs[run].log
    rows = results.load(runs[run].folder).rows
    assert sorted(map(question_of, rows)) == sorted(itertools.product(("rnn",), ("forward", "train"), stacks))
    for row in rows:
        assert row["outcome"] == "ok" and row["relative_error"] < 5e-6, (row["case_name"], row["reason"])
        # Dynamo breaks at nn.LSTM.
        assert ("graph_breaks" in row["flags"]) == (row["stack"] == "torch_inductor"), row["case_name"]
        assert "recompiled" not in row["flags"], row["case_name"]


@every_operation
def test_weights_are_the_same_bits_in_every_environment(rows: list[dict[str, Any]]) -> None:
    digests: dict[str, set[str]] = {}
    for row in rows:
        digests.setdefault(row["comparison_id"], set()).add(row["weights_sha256"])
    assert len(digests) == 8
    assert all(len(found) == 1 for found in digests.values())


@every_operation
def test_nothing_compiles_late_falls_back_or_breaks(rows: list[dict[str, Any]]) -> None:
    silent = {"recompiled", "fallback_ops", "graph_breaks"}
    assert [(row["case_name"], row["flags"]) for row in rows if silent & set(row["flags"])] == []
    for row in rows:
        if STACKS[row["stack"]].compiled:
            assert row["compiles_first"] == 1, row["case_name"]
            assert row["compiles_steady"] == 0, row["case_name"]


@every_operation
def test_torch_xla_compiles_a_second_time_when_the_moments_appear(rows: list[dict[str, Any]]) -> None:
    second = {(row["workload"], row["pass"]): row["compiles_second"] for row in rows if row["stack"] == "torch_xla"}
    assert second["gemm", "train"] == 1
    assert second["gemm", "forward"] == 0


@every_operation
def test_threads_are_the_same_for_every_stack(rows: list[dict[str, Any]]) -> None:
    assert len({row["threads"] for row in rows}) == 1
    for row in rows:
        facts = json.loads(row["environment_facts"])
        assert len(facts["affinity"]) == row["threads"]
        assert facts["environment_variables"]["OMP_NUM_THREADS"] == str(row["threads"])


@every_operation
def test_a_row_is_complete(rows: list[dict[str, Any]]) -> None:
    for row in rows:
        for name in (
            "import_seconds",
            "place_seconds",
            "first_seconds",
            "second_seconds",
            "host_peak_build_bytes",
            "host_peak_step_bytes",
            "items_per_step",
            "versions",
            "lock_sha256",
            "started_at",
        ):
            assert row[name] is not None, (row["case_name"], name)
        assert len(row["synced_seconds"]) == len(row["dispatch_seconds"]) >= 30
        assert row["pipelined_seconds"]
        assert row["fetch_seconds"]


@pytest.mark.runs(*EVERY_OPERATION, "wrong")
def test_the_sets_are_sealed_and_the_report_is_there(runs: Lanes) -> None:
    for name in (*EVERY_OPERATION, "wrong"):
        folder = runs[name].folder
        assert ResultSet.open(folder).problems() == []
        assert "<html" in (folder / "report.html").read_text(encoding="utf-8")


@pytest.mark.runs("wrong")
def test_every_mutant_ends_as_wrong_and_leaves_every_ratio(runs: Lanes) -> None:
    run = runs["wrong"]
    assert run.code == 3
    loaded = results.load(run.folder)
    found = {(row["workload"], row["stack"]): (row["outcome"], row["reason"]) for row in loaded.rows}
    assert len(found) == len(MUTANTS) * len(MUTATED)
    assert {case: what for case, what in found.items() if what[0] != "wrong"} == {}
    assert all("relative error" in reason for _, reason in found.values())
    assert ratios(loaded.rows, "torch_eager", loaded.protocol) == []


@pytest.mark.runs("rounds")
def test_real_stacks_hold_without_processor_time_and_take_turns(runs: Lanes) -> None:
    """Threads of OpenBLAS and XLA rest before the other process's turn."""
    loaded = results.load(runs["rounds"].folder)
    assert len(loaded.rows) == 2
    for row in loaded.rows:
        assert (row["outcome"], row["sampling"], row["company"]) == ("ok", "rounds", 2), row["reason"]
        assert len(row.round_medians("synced")) >= loaded.protocol.rounds_min
        assert row["held_processor_seconds"] < 0.02 * row["held_seconds"] + 0.02
        assert row["restless_handovers"] == 0
        assert row["relative_error"] < 5e-6 and row["pipelined_seconds"] and row["fetch_seconds"]
    (speedup,) = ratios(loaded.rows, "numpy", loaded.protocol)
    numpy, jax = sorted(loaded.rows, key=lambda row: row["stack"] != "numpy")
    assert set(numpy.round_medians("synced")) >= set(jax.round_medians("synced")), "the baseline stays to the end"
    assert len(speedup.log_ratios) == 1
