"""Real frameworks, real processes, the command line: every stack on every operation, and every mutant."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from suite import results
from suite.case import TRACKS
from suite.results.compare import ratios
from suite.results.store import ResultSet
from suite.stacks.catalog import REAL_STACKS, STACKS
from tests.mutations import MUTANTS, make_mutant

pytestmark = pytest.mark.stacks
INVOKE = Path(sys.executable).parent / "invoke"
SLOW, QUICK = ("torch_inductor", "numpy", "jax_eager", "jax_jit"), ("torch_eager", "torch_xla", "torchax_jit", "tf_*")
MUTATED = ("numpy", "jax_jit", "torch_eager", "tf_graph")  # one stack of each dialect
WORKLOADS = ("gemm", "ffn", "mha", "selu")


@dataclass(frozen=True)
class Run:
    """What a command printed and left behind."""

    code: int
    told: dict[str, Any]
    log: str

    @property
    def folder(self) -> Path:
        """The result set."""
        return Path(self.told["set"])


def invoke_run(place: Path, *options: str) -> Run:
    """`invoke run ... --json`, away from this process's own variables for BLAS."""
    done = subprocess.run([INVOKE, "run", "--engine=local", "--preset=tiny", "--json", f"--results={place}", *options],
                          capture_output=True, text=True, check=False, env=os.environ | {"COLUMNS": "200"})  # fmt: skip
    assert done.stdout.startswith("{"), done.stderr
    return Run(done.returncode, json.loads(done.stdout), done.stderr)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """All runs of this file, two at a time: only what they compute is looked at, not how fast."""
    mutants = tmp_path_factory.mktemp("mutants")
    names = [make_mutant(name, mutants).name for name in MUTANTS]
    places = {name: tmp_path_factory.mktemp(name) for name in ("slow", "quick", "wrong", "mixed")}
    with ThreadPoolExecutor(2) as pool:
        yield {
            "slow": pool.submit(invoke_run, places["slow"], *(f"--stack={s}" for s in SLOW)),
            "quick": pool.submit(invoke_run, places["quick"], *(f"--stack={s}" for s in QUICK)),
            "wrong": pool.submit(invoke_run, places["wrong"], f"--workload-path={mutants}", "--pass=train",
                                 *(f"--workload={name}" for name in names), *(f"--stack={s}" for s in MUTATED)),
            "mixed": pool.submit(invoke_run, places["mixed"], "--precision=bf16", "--track=default", "--track=tuned",
                                 "--workload=ffn", "--pass=train"),
        }  # fmt: skip


@pytest.fixture(scope="module")
def rows(runs: dict[str, Future[Run]]) -> list[dict[str, Any]]:
    """The rows of both halves."""
    both = [runs[half].result() for half in ("slow", "quick")]
    assert [run.code for run in both] == [0, 0], "\n".join(run.log for run in both)
    return [row for run in both for row in results.load(run.folder).rows]


def test_every_stack_computes_every_operation_and_says_so(rows: list[dict[str, Any]]) -> None:
    bad = [(row["case_name"], row["outcome"], row["reason"]) for row in rows if row["outcome"] != "ok"]
    assert bad == []
    found = sorted((row["workload"], row["pass"], row["stack"]) for row in rows)
    assert found == sorted(itertools.product(WORKLOADS, ("forward", "train"), REAL_STACKS))


def test_errors_are_far_under_the_tolerance(rows: list[dict[str, Any]]) -> None:
    assert all(0 < row["relative_error"] < 5e-6 for row in rows)


def test_f32_is_what_was_seen(rows: list[dict[str, Any]]) -> None:
    assert {row["precision_observed"] for row in rows} == {"f32"}


def test_bf16_and_the_tuned_track(runs: dict[str, Future[Run]]) -> None:
    run = runs["mixed"].result()
    assert run.code == 0, run.log
    found = {(row["stack"], row["track"]): row for row in results.load(run.folder).rows}
    assert {case for case, row in found.items() if row["outcome"] == "unsupported"} == {
        *(("numpy", track) for track in TRACKS),
        *((stack, "tuned") for stack in ("jax_eager", "torch_eager", "tf_eager", "tf_graph")),
    }
    for case, row in found.items():
        if row["outcome"] != "unsupported":
            assert (row["outcome"], row["precision_observed"]) == ("ok", "bf16"), (case, row["reason"])
            # Under it the step was computed in float32, whatever the probe says of a single product.
            assert 1e-4 < row["relative_error"] < 2e-2, case
            tuned = json.loads(row["environment_facts"])["tuned"]
            assert bool(tuned) == (row["track"] == "tuned"), case
            assert ("tuned" in row["case_name"]) == (row["track"] == "tuned")


def test_weights_are_the_same_bits_in_every_environment(rows: list[dict[str, Any]]) -> None:
    digests: dict[str, set[str]] = {}
    for row in rows:
        digests.setdefault(row["comparison_id"], set()).add(row["weights_sha256"])
    assert len(digests) == 8
    assert all(len(found) == 1 for found in digests.values())


def test_nothing_compiles_late_falls_back_or_breaks(rows: list[dict[str, Any]]) -> None:
    silent = {"recompiled", "fallback_ops", "graph_breaks"}
    assert [(row["case_name"], row["flags"]) for row in rows if silent & set(row["flags"])] == []
    for row in rows:
        if STACKS[row["stack"]].compiled:
            assert row["compiles_first"] == 1, row["case_name"]
            assert row["compiles_steady"] == 0, row["case_name"]


def test_torch_xla_compiles_a_second_time_when_the_moments_appear(rows: list[dict[str, Any]]) -> None:
    second = {(row["workload"], row["pass"]): row["compiles_second"] for row in rows if row["stack"] == "torch_xla"}
    assert second["gemm", "train"] == 1
    assert second["gemm", "forward"] == 0


def test_threads_are_the_same_for_every_stack(rows: list[dict[str, Any]]) -> None:
    assert len({row["threads"] for row in rows}) == 1
    for row in rows:
        facts = json.loads(row["environment_facts"])
        assert len(facts["affinity"]) == row["threads"]
        assert facts["environment_variables"]["OMP_NUM_THREADS"] == str(row["threads"])


def test_a_row_is_complete(rows: list[dict[str, Any]]) -> None:
    for row in rows:
        for name in ("import_seconds", "place_seconds", "first_seconds", "second_seconds", "host_peak_build_bytes",
                     "host_peak_step_bytes", "items_per_step", "versions", "lock_sha256", "started_at"):  # fmt: skip
            assert row[name] is not None, (row["case_name"], name)
        assert len(row["synced_seconds"]) == len(row["dispatch_seconds"]) >= 30
        assert row["pipelined_seconds"]
        assert row["fetch_seconds"]


def test_the_sets_are_sealed_and_the_report_is_there(runs: dict[str, Future[Run]]) -> None:
    for name in ("slow", "quick", "wrong"):
        folder = runs[name].result().folder
        assert ResultSet.open(folder).problems() == []
        assert "<html" in (folder / "report.html").read_text(encoding="utf-8")


def test_every_mutant_ends_as_wrong_and_leaves_every_ratio(runs: dict[str, Future[Run]]) -> None:
    run = runs["wrong"].result()
    assert run.code == 3
    loaded = results.load(run.folder)
    found = {(row["workload"], row["stack"]): (row["outcome"], row["reason"]) for row in loaded.rows}
    assert len(found) == len(MUTANTS) * len(MUTATED)
    assert {case: what for case, what in found.items() if what[0] != "wrong"} == {}
    assert all("relative error" in reason for _, reason in found.values())
    assert ratios(loaded.rows, "torch_eager", loaded.protocol) == []
