"""Models on real frameworks: every stack against the golden files, every mutant wrong, and the files made again."""

from __future__ import annotations

import itertools
import subprocess
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from suite import protocol, results
from suite.reference import check
from suite.workloads.catalog import find
from tests.mutations import MODEL_MUTANTS, make_mutant
from tests.test_end_to_end import INVOKE, Run, invoke_run

pytestmark = pytest.mark.stacks
MODELS = {name: workload for name, workload in find().items() if (workload.folder / "oracle.py").exists()}
STACKS = ("jax_jit", "torch_eager", "torch_inductor", "torch_xla", "torchax_jit", "tf_graph", "tf_xla")
MUTATED = ("jax_jit", "torch_eager", "tf_graph")  # one stack of each dialect
REMADE = "gpt2"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """All runs of this file, two at a time: only what they compute is looked at, not how fast."""
    mutants = tmp_path_factory.mktemp("mutants")
    names = [make_mutant(name, mutants, MODEL_MUTANTS).name for name in MODEL_MUTANTS]
    with ThreadPoolExecutor(2) as pool:
        asked = {
            name: pool.submit(invoke_run, tmp_path_factory.mktemp(name), f"--workload={name}", "--pass=train",
                              "--size=tiny", "--size=odd", *(f"--stack={stack}" for stack in STACKS))
            for name in MODELS
        }  # fmt: skip
        asked["wrong"] = pool.submit(
            invoke_run, tmp_path_factory.mktemp("wrong"), f"--workload-path={mutants}", "--pass=train", "--size=tiny",
            *(f"--workload={name}" for name in names), *(f"--stack={stack}" for stack in MUTATED),
        )  # fmt: skip
        yield asked


@pytest.mark.parametrize("model", MODELS)
def test_every_stack_computes_the_model_of_the_golden_files(model: str, runs: dict[str, Future[Run]]) -> None:
    rows = results.load(runs[model].result().folder).rows
    assert [(row["case_name"], row["outcome"], row["reason"]) for row in rows if row["outcome"] != "ok"] == []
    assert sorted((row["stack"], row["size"]) for row in rows) == sorted(itertools.product(STACKS, ("odd", "tiny")))
    assert all(0 < row["relative_error"] < protocol.MODEL_TOLERANCE["f32"] for row in rows)
    silent = {"recompiled", "fallback_ops", "graph_breaks"}
    assert [(row["case_name"], row["flags"]) for row in rows if silent & set(row["flags"])] == []


def test_every_wrong_model_ends_as_wrong(runs: dict[str, Future[Run]]) -> None:
    rows = results.load(runs["wrong"].result().folder).rows
    assert len(rows) == len(MODEL_MUTANTS) * len(MUTATED)
    assert [(row["case_name"], row["outcome"]) for row in rows if row["outcome"] != "wrong"] == []


@pytest.mark.parametrize("size", ["tiny", "odd"])
def test_a_golden_file_made_again_is_the_stored_one(size: str) -> None:
    assert check.differences(MODELS[REMADE], size) == []


def test_other_dims_are_held_to_the_stack_that_ran_first(tmp_path: Path) -> None:
    asked = ("--workload=gpt2", "--pass=train", "--dims=seq=11", "--stack=jax_jit", "--stack=torch_eager")
    first, second = results.load(invoke_run(tmp_path, *asked).folder).rows
    assert (first["outcome"], first["relative_error"]) == ("ok", None)
    assert second["outcome"] == "ok"
    assert 0 < second["relative_error"] < protocol.DIGEST_TOLERANCE["f32"]


@pytest.mark.parametrize(
    ("dims", "rule"),
    [
        ("seq=17", "seq=17 must not exceed positions=16"),
        ("heads=5", "width=32 must be a multiple of heads=5"),
        ("batch=0", "batch=0 must be at least 1"),
        ("seq=1.5", "whole number"),
    ],
)
def test_dims_that_dont_fit_are_refused_with_the_rule(dims: str, rule: str) -> None:
    words = [INVOKE, "run", "--preset=tiny", "--workload=gpt2", f"--dims={dims}", "--engine=local"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert rule in done.stderr
