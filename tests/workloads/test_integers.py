"""Inputs of whole numbers, and models that name only some of the dims, on the stacks of every dialect."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from suite.environments import venv
from suite.stacks.catalog import STACKS
from tests.scenes import SCENARIOS
from tests.worker.processes import attempt_of, case_of, columns_of, request, run_worker

LOOKUP = SCENARIOS / "lookup"
DIMS = {"ids": 5, "rows": 7, "width": 3}


def relative_error(stack: str, python: str | Path, folder: Path) -> float:
    """The largest error in a forward pass, a loss and a gradient that a worker's gate found."""
    case = case_of(workload="lookup", stack=stack, dims=DIMS, pass_="train")
    done, told = run_worker(request(attempt_of(case), LOOKUP, folder / "out"), python)
    assert done.returncode == 0, done.stderr
    return float(columns_of(told)["relative_error"])


def test_a_reference_and_a_numpy_file_index_by_them(tmp_path: Path) -> None:
    assert relative_error("numpy", sys.executable, tmp_path) < 1e-6


@pytest.mark.stacks
@pytest.mark.parametrize("stack", ["jax_jit", "torch_eager", "torchax_jit", "tf_eager"])
def test_a_model_is_made_with_the_dims_that_it_names(stack: str, tmp_path: Path) -> None:
    python = venv.ensure(STACKS[stack].environment).python
    assert relative_error(stack, python, tmp_path) < 1e-6
