"""Small inputs from public reports, tests/trials/ and examples/wrong/, on every stack: no wrong result passes for
right, and each other outcome has its reason."""

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
# How each ends, where that isn't `ok`: {question: {stack:function: (outcome, words of the reason)}}.
ENDS: dict[str, dict[str, tuple[str, str]]] = {}
pytestmark = pytest.mark.stacks


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.runs(*RUNS)
def test_each_ends_as_it_should(run: str, runs) -> None:  # type: ignore[no-untyped-def]
    frame = load(runs[run].folder).frame
    for row in frame.iter_rows(named=True):
        name = f"{row['stack']}:{row['implementation']}"
        outcome, words = ENDS.get(row["workload"], {}).get(name, ("ok", ""))
        assert row["outcome"] == outcome and words in (row["reason"] or ""), (row["workload"], name, row["reason"])
