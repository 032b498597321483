"""The specs against the models as the frameworks build and lower them, at the published sizes and on shapes alone."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from suite.environments import venv
from suite.reference.floor import floor
from suite.workloads.catalog import find

pytestmark = pytest.mark.stacks
ROOT = Path(__file__).parents[2]
MODELS = {name: workload for name, workload in find().items() if (workload.folder / "oracle.py").exists()}
ENVIRONMENTS = {"jax": "jax", "torch": "torch", "tf": "tensorflow"}


def run(environment: str, *words: str) -> str:
    """What a program says that runs in an environment of the stacks."""
    python = venv.ensure(environment, "cpu").python
    variables = {"PYTHONPATH": str(ROOT), "JAX_PLATFORMS": "cpu", "PATH": "/usr/bin:/bin", "TF_CPP_MIN_LOG_LEVEL": "3"}
    done = subprocess.run([str(python), *words], cwd=ROOT, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.mark.parametrize("dialect", ENVIRONMENTS)
def test_a_framework_builds_the_parameters_that_the_specs_name(dialect: str) -> None:
    folders = [str(workload.folder) for workload in MODELS.values()]
    built = json.loads(run(ENVIRONMENTS[dialect], str(Path(__file__).with_name("built_models.py")), dialect, *folders))
    for name, workload in MODELS.items():
        dims = workload.dims("full", {})
        asked = {key: list(tensor.shape) for key, tensor in workload.spec.parameters(dims).items()}
        assert built[name]["parameters"] == asked, name
        classes = dims.get("vocab") or dims["classes"]
        state_bytes = [floor(workload, dims, "train").state] if workload.spec.OPTIMIZER else []
        assert built[name]["state_bytes"] in ([], state_bytes)
        length = [dims["seq"]] if "seq" in dims and name != "decode" else []  # one call's is of the last token alone
        assert built[name]["output"] == [dims["batch"], *length, classes]


@pytest.mark.parametrize(("name", "pass_"), [(name, pass_) for name in MODELS for pass_ in MODELS[name].spec.PASSES])
def test_the_analytic_flops_are_those_of_the_lowered_step(name: str, pass_: str) -> None:
    words = run("jax", "-m", "tools.flops", str(MODELS[name].folder), "full", pass_)
    assert abs(float(words.rsplit(" ", 1)[1]) - 1.0) < 0.01, words
