"""Small inputs from public reports, tests/trials/ and examples/wrong/, on every stack: no wrong result passes for
right, and what a framework lacks is no error."""

from __future__ import annotations

from pathlib import Path

import pytest

from suite.results import load
from tests.runs import TOGETHER, Asked

ROOT = Path(__file__).parents[1]
FILES = sorted((*(ROOT / "examples" / "wrong").glob("*.py"), *(ROOT / "tests" / "trials").glob("*.py")))
GRADIENTS = ("conv3d_transpose", "relu_gradient")  # what these ask is a gradient
STACKS = ("numpy", "jax_*", "torch_eager", "torch_inductor", "torch_xla", "torchax_jit", "tf_*")


def asked(pass_: str, files: list[Path]) -> Asked:
    options = [f"--pass={pass_}", *(f"--stack={stack}" for stack in STACKS)]
    options += [f"--workload-path={file}" for file in files]
    return Asked(12, (*options, *(f"--workload={file.stem}" for file in files)), module=TOGETHER, release=True)


RUNS = {
    "trials": asked("forward", [file for file in FILES if file.stem not in GRADIENTS]),
    "trials of gradients": asked("gradient", [file for file in FILES if file.stem in GRADIENTS]),
}
WRONG, UNSUPPORTED, DIFFER = "wrong", "unsupported", "differ"
# How each question of examples/wrong/ ends on the stacks that don't end ok.
WHOLE = {
    "cumprod_bf16": ("jax_eager", "jax_jit", "torchax_jit", "torch_xla", "tf_eager", "tf_graph"),
    "floor_division": ("torch_inductor", "torch_xla", "tf_eager", "tf_graph", "tf_xla"),
    "int8_square": ("torch_xla", "tf_xla"),
    "int_min": ("torch_xla",),
    "log_exp": ("torch_xla", "tf_xla"),
    "standardize": ("jax_eager:standardize", "jax_jit:standardize", "torch_xla"),
}
# How some of those of tests/trials/ end; the others depend on whom the majority follows.
ENDS = {
    ("avg_pool_same", "torch_eager", "plain"): WRONG,
    ("conv3d_transpose", "torch_xla", "conv_transpose"): WRONG,
    ("duplicate_rows", "jax_jit", "add"): WRONG,
    ("rank_deficient", "tf_xla", "orthogonal"): UNSUPPORTED,
    ("rank_deficient", "torchax_jit", "lstsq"): UNSUPPORTED,
    ("shrink", "torch_eager", "smooth"): DIFFER,
    ("shrink", "jax_jit", "sharp"): DIFFER,
}
# Errors of a framework, which is named: torchax 0.0.13 calls its antialiased resize with what that can't take, and
# under vmap its gradient of tanh has another shape than PyTorch asks for.
BROKEN = {
    ("bicubic", "torchax_jit", "bicubic_antialias"): "inside torchax",
    ("shrink", "torchax_jit", "smooth"): "inside torchax",
    ("jacobian", "torchax_jit", "reverse"): "inside torch",
}
pytestmark = pytest.mark.stacks


@pytest.mark.runs("trials")
def test_each_wrong_result_is_found_and_no_other(runs) -> None:  # type: ignore[no-untyped-def]
    for row in load(runs["trials"].folder).frame.iter_rows(named=True):
        if row["workload"] in WHOLE:
            names = {row["stack"], f"{row['stack']}:{row['implementation']}"}
            wanted = WRONG if names & {*WHOLE[row["workload"]]} else "ok"
            assert row["outcome"] == wanted, (row["workload"], row["stack"], row["reason"])


@pytest.mark.runs(*RUNS)
def test_what_is_known_of_the_others_holds_and_an_error_names_its_framework(runs) -> None:  # type: ignore[no-untyped-def]
    for name in RUNS:
        for row in load(runs[name].folder).frame.iter_rows(named=True):
            case = row["workload"], row["stack"], row["implementation"]
            is_error = row["outcome"] in ("error", "crashed")
            assert is_error == (case in BROKEN) and BROKEN.get(case, "") in (row["reason"] or ""), (case, row["reason"])
            assert row["outcome"] == ENDS.get(case, row["outcome"]), (case, row["reason"])
