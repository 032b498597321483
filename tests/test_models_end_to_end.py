"""Models on real frameworks: every stack against the golden files, every mutant wrong, and the files made again."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable
from functools import partial
from itertools import product
from pathlib import Path

import pytest

from suite import protocol, results
from suite.environments import venv
from suite.launch.engine import worker_environment
from suite.workloads.catalog import find
from tests.mutations import MODEL_MUTANTS, make_mutant
from tests.runs import STACKWARS, TOGETHER, UNWARMED, Asked, Lanes, invoke_run, of
from tools import golden

pytestmark = pytest.mark.stacks
# `decode`, which has only a forward pass, has tests of its own.
MODELS = {
    name: workload
    for name, workload in find().items()
    if (workload.folder / "oracle.py").exists() and "train" in workload.spec.PASSES
}
STACKS = ("jax_jit", "torch_eager", "torch_inductor", "torch_xla", "torchax_jit", "tf_graph", "tf_xla")
SIZES = ("tiny", "odd")
WRITTEN = ("jax_jit", "torch_eager", "tf_graph")  # one stack of each dialect
REMADE = "gpt2"


def mutants(folder: Path, names: Iterable[str]) -> list[str]:
    return [make_mutant(name, folder, MODEL_MUTANTS).name for name in names]


TRAIN = ("--pass=train", "--size=tiny")
# Each on one dialect, in turn; benchmarks/mutants.py has all of them on all.
WRONG = {f"wrong {stack}": (stack, [*MODEL_MUTANTS][i :: len(WRITTEN)]) for i, stack in enumerate(WRITTEN)}
# The stacks that run another's dialect file: a model of each kind, one with buffers on those that hold them otherwise.
LEFT = tuple(stack for stack in STACKS if stack not in WRITTEN)
WITH_BUFFERS = ("torchax_jit", "tf_xla")
KERAS = ("keras_jax", "keras_torch", "keras_tf")
IN_KERAS = [name for name, workload in MODELS.items() if "keras" in workload.dialects]
OF_KERAS = (*(f"--workload={model}" for model in IN_KERAS), "--pass=train", *of(KERAS))
RUNS = (
    {
        "keras": Asked(3, (*OF_KERAS, "--size=odd"), module=TOGETHER, release=True),
        "keras bf16": Asked(3, (*OF_KERAS, "--size=tiny", "--precision=bf16"), module=TOGETHER, release=True),
        "gpt2": Asked(3, ("--workload=gpt2", *TRAIN, *of(LEFT)), module=TOGETHER, release=True),
        "resnet50": Asked(2, ("--workload=resnet50", *TRAIN, *of(WITH_BUFFERS)), module=TOGETHER, release=True),
    }
    | {
        name: Asked(
            0.5, (*TRAIN, *of([stack])), partial(mutants, names=names), module=TOGETHER, release=stack != "torch_eager"
        )
        for name, (stack, names) in WRONG.items()
    }
    | {
        "odd": Asked(
            2,
            ("--pass=train", "--size=odd", *(f"--workload={model}" for model in MODELS), *of(WRITTEN)),
            module=TOGETHER,
        ),
        "bf16": Asked(
            1,
            ("--workload=llama", "--size=tiny", "--pass=train", "--precision=bf16", "--stack=torch_eager"),
            module=UNWARMED,
            release=True,
        ),
    }
)


# A shape that a dialect file mistakes is mistaken on every stack of that dialect.
@pytest.mark.parametrize(
    ("run", "size", "models", "stacks"),
    [
        ("odd", "odd", MODELS, WRITTEN),
        ("gpt2", "tiny", ["gpt2"], LEFT),
        ("resnet50", "tiny", ["resnet50"], WITH_BUFFERS),
        ("keras", "odd", IN_KERAS, KERAS),
    ],
)
def test_stacks_compute_the_models_of_the_golden_files(
    run: str, size: str, models: Iterable[str], stacks: Iterable[str], runs: Lanes
) -> None:
    rows = results.load(runs[run].folder).rows
    assert [(row["case_name"], row["outcome"], row["reason"]) for row in rows if row["outcome"] != "ok"] == []
    assert {(row["workload"], row["stack"], row["size"]) for row in rows} == {*product(models, stacks, [size])}
    assert all(0 < row["relative_error"] < protocol.MODEL_TOLERANCE["f32"] for row in rows)
    silent = {"recompiled", "fallback_ops", "graph_breaks"}
    assert [(row["case_name"], row["flags"]) for row in rows if silent & set(row["flags"])] == []


@pytest.mark.parametrize(("run", "names"), [(name, names) for name, (_, names) in WRONG.items()])
def test_every_wrong_model_ends_as_wrong(runs: Lanes, run: str, names: list[str]) -> None:
    rows = results.load(runs[run].folder).rows
    assert len(rows) == len(names)
    assert [(row["case_name"], row["outcome"]) for row in rows if row["outcome"] != "wrong"] == []


@pytest.mark.runs("keras bf16")
def test_models_run_in_keras_s_mixed_precision(runs: Lanes) -> None:
    rows = results.load(runs["keras bf16"].folder).rows
    assert [(row["case_name"], row["outcome"], row["reason"]) for row in rows if row["outcome"] != "ok"] == []
    assert {(row["workload"], row["stack"]) for row in rows} == {*product(IN_KERAS, KERAS)}
    assert {row["precision_observed"] for row in rows} == {"bf16"}


@pytest.mark.runs("bf16")
def test_llama_runs_in_every_mixed_precision_of_pytorch(runs: Lanes) -> None:
    """Its queries and keys are turned by float32 angles, and must still be of the values' type for attention."""
    rows = results.load(runs["bf16"].folder).rows
    assert [(row["stack"], row["outcome"], row["reason"]) for row in rows] == [("torch_eager", "ok", None)]
    assert {row["precision_observed"] for row in rows} == {"bf16"}
    assert all(1e-4 < row["relative_error"] < protocol.MODEL_TOLERANCE["bf16"] for row in rows)


@pytest.mark.environments("oracle")
@pytest.mark.parametrize("size", SIZES)
def test_a_golden_file_made_again_is_the_stored_one(size: str) -> None:
    oracle = golden.GoldenMaker(venv.ensure("oracle", "test").python, worker_environment(os.environ))
    model = MODELS[REMADE]
    assert [oracle.differences(model, size, optimizer) for optimizer in golden.paths_of(model, size)] == [[], []]


@pytest.mark.release
def test_other_dims_are_held_to_the_stack_that_ran_first(tmp_path: Path) -> None:
    asked = ("--workload=gpt2", "--pass=train", "--dims=seq=11", "--stack=jax_jit", "--stack=torch_eager")
    first, second = results.load(invoke_run(tmp_path, *asked, module=TOGETHER).folder).rows
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
    words = [*STACKWARS, "run", "--preset=tiny", "--workload=gpt2", f"--dims={dims}", "--engine=local"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert rule in done.stderr
