"""What the stacks hand to their compilers: captured by a whole run, read, recognised, compared. Of other models
recorded programs are read (tests/ir/test_recorded.py)."""

from __future__ import annotations

import gzip
import subprocess
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from suite import results
from suite.ir.findings import StackPrograms
from suite.results.questions.programs import programs_of
from tests.runs import OLDER, STACKWARS, UNWARMED, WITH_OLDER, Asked, Lanes, of
from tests.scenes import FAKE, SCENARIOS

pytestmark = [pytest.mark.stacks, pytest.mark.newest]
MODELS = {
    "gpt2": {"embedding": 1, "position embedding": 1, "layer norm": 5, "attention": 2, "GELU": 2},
    "resnet50": {"batch norm": 20},
}  # of two layers
# Two that differ most, which are compared below.
OF_XLA = {"programs": ("jax_jit", "torch_xla"), "programs of the rest": ("torchax_jit", "tf_xla")}
SHAPES = {"shapes": ("jax_jit",), "shapes of the rest": ("torch_xla", "torchax_jit", "tf_xla")}
TINY = ("--purpose=ir", "--size=tiny", "--pass=train")
OF_GPT2 = (*TINY, "--workload=gpt2")
RUNS = {
    "programs": Asked(1, (*OF_GPT2, *of(OF_XLA["programs"])), module=UNWARMED),
    "programs of the rest": Asked(1, (*OF_GPT2, *of(OF_XLA["programs of the rest"])), module=UNWARMED, release=True),
    # Of other stacks recorded ones are read.
    "convolutions": Asked(0.5, (*TINY, "--workload=resnet50", "--stack=jax_jit"), module=UNWARMED, release=True),
    "cut": Asked(
        0.5,
        (
            "--purpose=ir",
            f"--workload-path={SCENARIOS}",
            f"--stack-path={FAKE}",
            "--workload=story",
            "--pass=forward",
            "--size=cut",
            "--size=calm",
            "--stack=fake",
        ),
    ),
    # What a program says depends on the version of JAX that wrote it.
    "older": Asked(1, (*OF_GPT2, *of(WITH_OLDER)), module=OLDER),
} | {
    run: Asked(
        0.5,
        (*OF_GPT2, "--abstract", *of(stacks), "--stack=numpy", "--stack=torch_eager"),
        module=UNWARMED,
        release=run != "shapes",
    )
    for run, stacks in SHAPES.items()
}


def rows_of(run: Any, model: str = "gpt2") -> list[Any]:
    """A model's rows of a run that ended well."""
    assert run.code == 0, run.log
    return [row for row in results.load(run.folder).rows if row["workload"] == model]


@pytest.mark.parametrize(
    ("run", "model", "stacks"),
    [
        *((run, "gpt2", stacks) for run, stacks in OF_XLA.items()),
        ("convolutions", "resnet50", ("jax_jit",)),
        ("older", "gpt2", WITH_OLDER),
    ],
)
def test_every_region_of_a_model_is_recognised_on_every_stack(
    runs: Lanes, run: str, model: str, stacks: Sequence[str]
) -> None:
    rows = rows_of(runs[run], model)
    assert {row["stack"] for row in rows} == set(stacks)
    for row in rows:
        assert row["outcome"] == "ok", (row["case_name"], row["reason"])
        contents = StackPrograms(row["stack"], programs_of(row)).step.contents
        assert contents is not None
        found: Counter[str] = Counter()
        for kind, _, count in contents.regions:
            found[kind] += count
        assert found == MODELS[model], (row["case_name"], contents.regions)


@pytest.mark.parametrize("run", [*OF_XLA, "older"])
def test_the_whole_state_takes_the_place_of_arguments(runs: Lanes, run: str) -> None:
    for row in rows_of(runs[run]):
        contents = StackPrograms(row["stack"], programs_of(row)).step.contents
        assert contents is not None
        state = row["floor_parameters_bytes"] + row["floor_optimizer_bytes"]
        assert contents.aliased_bytes == pytest.approx(state, rel=0.01), row["case_name"]
        # PyTorch keeps gradients until the next step clears them, PyTorch/XLA also what they are views of; the others'
        # are gone.
        gradients = row["floor_gradients_bytes"] if row["stack"] == "torch_xla" else 0
        assert gradients <= contents.kept_bytes < 2.1 * gradients + 64, row["case_name"]


@pytest.mark.parametrize("run", OF_XLA)
def test_every_distinct_program_is_kept_as_text(runs: Lanes, run: str) -> None:
    for row in rows_of(runs[run]):
        programs = programs_of(row)
        steps = [step for program in programs for step in program.steps]
        assert steps == (["first", "second"] if row["stack"] == "torch_xla" else ["first"]), row["case_name"]
        (folder,) = runs[run].folder.glob(f"ir/*{row['case_name']}-*")
        for program in programs:
            text = gzip.decompress((folder / f"{program.name}.stablehlo.mlir.gz").read_bytes()).decode()
            assert text.startswith("module @") and "stablehlo.dot" in text
            assert (folder / f"{program.name}.optimized.hlo.txt.gz").exists()
        assert (folder / "jaxpr.txt.gz").exists() == row["stack"].endswith("_jit")


@pytest.mark.parametrize(("run", "stacks"), SHAPES.items())
def test_programs_of_tensors_that_aren_t_there_are_those_of_the_ones_that_are(
    runs: Lanes, run: str, stacks: Sequence[str]
) -> None:
    rows = {row["stack"]: row for row in rows_of(runs[run])}
    assert {stack for stack, row in rows.items() if row["outcome"] == "ok"} == {*stacks, "torch_eager"}
    floors = {part: rows["torch_eager"][f"floor_{part}_bytes"] for part in ("parameters", "optimizer", "gradients")}
    for stack in (*stacks, "torch_eager"):
        state = floors["parameters"] + floors["optimizer"]
        assert state < rows[stack]["program_argument_bytes"] < 1.5 * state, "in whole blocks, with its inputs"
    # What eager PyTorch allocates, followed on fake tensors, has all gradients at once.
    assert floors["gradients"] < rows["torch_eager"]["program_temporary_bytes"] < 10 * floors["gradients"]
    for stack in stacks:
        contents = StackPrograms(stack, programs_of(rows[stack])).step.contents
        assert contents is not None
        assert Counter(kind for kind, _, _ in contents.regions).keys() == MODELS["gpt2"].keys()


@pytest.mark.runs("cut")
def test_a_dump_that_ends_in_the_middle_is_an_error_of_its_case_alone(runs: Lanes) -> None:
    run = runs["cut"]
    reasons = {row["size"]: (row["outcome"], row["reason"]) for row in results.load(run.folder).rows}
    outcome, reason = reasons["cut"]
    assert outcome == "error" and reason.startswith(
        "what it hands to its compiler couldn't be read: this isn't a complete"
    )
    assert reasons["calm"] == ("error", "its compiler left no program in three steps")


def told(*words: str) -> subprocess.CompletedProcess[str]:
    """What `invoke ir` says."""
    return subprocess.run([*STACKWARS, "ir", *words], capture_output=True, text=True, check=False)


@pytest.mark.runs("programs")
def test_two_cases_or_a_case_and_a_file_are_compared(runs: Lanes) -> None:
    folder = runs["programs"].folder
    jax, xla = "gpt2-tiny-train-f32-cpu-jax_jit", "gpt2-tiny-train-f32-cpu-torch_xla"
    both = told(f"--set={folder}", f"--case={jax}", f"--case={xla}")
    assert both.returncode == 0, both.stderr
    assert "- torch_xla keeps " in both.stdout
    (kept,) = folder.glob(f"ir/*{jax}-*/*.stablehlo.mlir.gz")
    again = told(f"--set={folder}", f"--case={jax}", f"--case={kept}")
    assert again.returncode == 0, again.stderr
    assert "keeps" not in again.stdout and "hands over" not in again.stdout, "the same program"


@pytest.mark.runs("programs")
@pytest.mark.parametrize(
    ("case", "said"),
    [
        ("gpt2-tiny-train-f32-cpu-jax_jt", "Did you mean 'gpt2-tiny-train-f32-cpu-jax_jit'?"),
        ("half.mlir", "line 1, column "),  # behind which Python might read it, where that isn't here
        ("foreign.mlir", "foreign.mlir couldn't be read: "),
        ("absent.mlir", "absent.mlir can't be read: No such file or directory."),
        ("cut.mlir.gz", "cut.mlir.gz isn't a whole gzip file: "),
    ],
)
def test_what_can_t_be_compared_is_said(runs: Lanes, tmp_path: Path, case: str, said: str) -> None:
    text = "module @half { func.func public @main(%arg0: tensor<2xf32>) -> tensor<2xf32> {"
    (tmp_path / "half.mlir").write_text(text)
    (tmp_path / "foreign.mlir").write_bytes(b"\x00\xff\x13 no program")
    (tmp_path / "cut.mlir.gz").write_bytes(gzip.compress(text.encode())[:20])
    other = str(tmp_path / case) if ".mlir" in case else case
    done = told(f"--set={runs['programs'].folder}", "--case=gpt2-tiny-train-f32-cpu-jax_jit", f"--case={other}")
    assert done.returncode == 2 and done.stdout == ""
    assert said in done.stderr and "Traceback" not in done.stderr
    assert case in done.stderr
