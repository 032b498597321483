"""Keras on the three frameworks: without it a stack says so, and where its AdamW isn't what its formula says."""

from __future__ import annotations

import json

import pytest

from suite.stacks.catalog import STACKS
from suite.workloads import catalog
from tests.stacks.programs import WITH_CASE, told
from tests.worker.processes import case_of

pytestmark = pytest.mark.stacks
KERAS = [name for name, stack in STACKS.items() if stack.native]
FFN = catalog.HOME / "ops" / "ffn"
LACKING = f"""{WITH_CASE}
from suite.stacks.base import Unsupported
sys.modules["keras"] = None
try:
    adapter_class(case.stack)(case, workload)
except Unsupported as reason:
    print(json.dumps(str(reason)))
"""
FACTS = f"""{WITH_CASE}
os.environ["KERAS_HOME"] = sys.argv[2]
adapter = adapter_class(case.stack)(case, workload)
facts = adapter.device()
adapter.build()
assert {{"compiles", "compile_seconds"}} <= adapter.counters().keys()
print(json.dumps([facts["jit_compile"], facts["optimizer"], adapter.model.jit_compile, adapter.keras.config.backend()]))
"""
TWICE = """
import json, os, sys
os.environ |= {"KERAS_BACKEND": sys.argv[1], "KERAS_HOME": sys.argv[2]}
import keras, numpy as np
model = keras.Sequential([keras.layers.Embedding(2, 1)])
model.build((1, 2))
optimizer = keras.optimizers.AdamW(1e-3, weight_decay=0.0)
model.compile(optimizer=optimizer, loss=lambda y, p: keras.ops.sum(p))
model.train_on_batch(np.array([[0, 0]]), np.zeros((1, 2, 1)))
print(json.dumps(float(np.ravel(keras.ops.convert_to_numpy(optimizer._velocities[0]))[0])))
"""


def training(stack: str, **fields: object) -> str:
    dims = catalog.load(FFN).dims("tiny", {})
    return json.dumps(case_of(stack=stack, workload="ffn", dims=dims, pass_="train", **fields).to_json())


@pytest.mark.parametrize("stack", KERAS)
def test_an_environment_without_keras_is_unsupported(stack: str) -> None:
    environment = STACKS[stack].environment
    assert (
        told(environment, LACKING, training(stack, variant="0.6")) == f"the environment {environment}@0.6 has no Keras"
    )


@pytest.mark.parametrize("stack", KERAS)
def test_the_row_says_what_keras_compiles_and_which_optimizer_ran(stack: str, tmp_path) -> None:
    environment = STACKS[stack].environment
    compiles = stack == "keras_jax"
    wanted = [compiles, "keras_adamw", compiles, environment]
    assert told(environment, FACTS, training(stack), tmp_path) == wanted
    if not compiles:
        assert told(environment, FACTS, training(stack, track="tuned"), tmp_path) == [
            True,
            "keras_adamw",
            True,
            environment,
        ]


@pytest.mark.parametrize(("environment", "square"), [("jax", 4.0), ("torch", 4.0), ("tensorflow", 2.0)])
def test_where_an_id_is_twice_in_a_batch_keras_s_v_is_wrong_on_tensorflow(environment, square, tmp_path) -> None:
    """Its gradient is 2, so v is (1 - beta2) 4. When TensorFlow's is too, BERT's types may be an Embedding again."""
    assert told(environment, TWICE, environment, tmp_path) == pytest.approx(1e-3 * square)
