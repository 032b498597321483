"""A question's model in JAX, by each library, against the library's own use of it without dropout."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from suite.environments import dependencies, venv
from tests.worker.processes import ROOT

pytestmark = [pytest.mark.stacks, pytest.mark.newest]
PROGRAM = Path(__file__).with_name("models_of_jax.py")
KINDS = ("nnx", "linen", "linen in float32", "equinox", "equinox without its state", "function")
ROUNDING = {"forward": 1e-6, "loss": 1e-6, "gradients": 1e-4, "buffers": 1e-6}


@pytest.fixture(scope="module")
def found() -> Any:
    lock = dependencies.extended(venv.fit("jax", "cpu"), ("flax", "equinox"), PROGRAM)
    python = venv.made(venv.Lock("jax", "cpu", lock)).python
    done = subprocess.run(
        [python, PROGRAM], cwd=ROOT, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_computes_what_its_library_does_in_evaluation_and_in_training_without_dropout(
    found: Any, kind: str
) -> None:
    for what, limit in ROUNDING.items():
        assert found[kind][what] < limit, what


@pytest.mark.parametrize("kind", KINDS)
def test_in_float64_it_is_the_same_model_and_takes_the_optimizer_s_step(found: Any, kind: str) -> None:
    of = found[kind]
    assert of["types"] == ["float64"]
    assert max(of["exact"], of["exact loss"]) < 1e-6 and max(of["exact gradients"], of["exact step"]) < 1e-4


def test_training_moves_the_statistics_of_every_batch_norm(found: Any) -> None:
    for kind in KINDS:
        _, buffers = found[kind]["leaves"]
        assert found[kind]["updated"] == sorted(buffers) and len(buffers) == {"function": 0}.get(
            kind, 2 + 2 * ("eq" in kind)
        )


def test_parameters_have_the_names_of_the_module_and_numbers_that_are_not_trained_are_none(found: Any) -> None:
    parameters, buffers = found["nnx"]["leaves"]
    assert parameters["layers.0.kernel"] == [[4, 6], "float32", None, None, "linear"]
    assert parameters["norm.scale"] == [[6], "float32", 1.0, None, "batch_norm"] and len(parameters) == 13
    mean, variance = ([[6], "float32", constant, None, "batch_norm"] for constant in (0.0, 1.0))
    assert buffers == {"norm.mean": mean, "norm.var": variance}
    parameters, buffers = found["equinox"]["leaves"]
    assert parameters["convolution.weight"] == [[5, 6, 3], "float32", None, 6 * 3, "conv"] and len(parameters) == 8
    assert buffers["norms.0.ema_state_index.1"][:3] == [[6], "float32", 1.0], "a variance of zero has no root"
    assert found["function"]["leaves"][0].keys() == {"layers.0", "layers.1"}
    made = dict.fromkeys(name.split(".")[0] for name in found["linen"]["leaves"][0])
    assert [*made] == ["Dense_0", "BatchNorm_0", "MultiHeadDotProductAttention_0"], "as they are called"


def test_calls_of_parts_are_recorded_and_the_model_s_own_is_the_last(found: Any) -> None:
    assert found["called"] == [["layers.1", "layers.2", ""]] * 2


def test_results_are_trees_of_arrays_alone(found: Any) -> None:
    assert found["nnx"]["results"] == ["of.logits", "of.more.0"]


def test_a_model_in_a_narrow_type_has_no_float64_and_other_things_are_no_models(found: Any) -> None:
    narrow, number = found["refused"]
    assert narrow.startswith("NotImplementedError: ") and "bfloat16" in narrow
    assert number.startswith("TypeError: jax_model returns a int; ")
