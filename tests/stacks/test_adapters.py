"""What every adapter keeps to: it leaves the dialect's module as it was, and a state to be read has no moments."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest

from suite.environments import venv
from suite.stacks.catalog import STACKS, adapter_class
from suite.stacks.jax import jax_runtime
from suite.stacks.torch import torch_eager_adapter
from suite.workloads import catalog
from tests.worker.processes import ROOT, case_of

# Eager JAX dispatches each primitive by itself, and torchax compiles for a minute: an operation will do.
ASKED = {
    "jax_eager": "ops/ffn",
    "jax_jit": "models/gpt2",
    "torch_eager": "models/gpt2",
    "torchax_jit": "ops/ffn",
    "tf_graph": "models/gpt2",
}
TWO_ADAPTERS = """
import json, os, sys
from pathlib import Path
from suite.case import Case
from suite.stacks.catalog import STACKS, adapter_class
from suite.worker.data import Data
from suite.workloads import catalog
case, workload = Case.from_json(json.loads(sys.argv[1])), catalog.load(Path(sys.argv[2]))
os.environ.update(adapter_class(case.stack).environ(case, "/nowhere"))

def losses(read_first):
    adapter, data = adapter_class(case.stack)(case, workload), Data(case, workload, 0)
    adapter.device()
    adapter.build()
    if read_first:
        adapter.read("gradients", *data.place(adapter, moments=False))
    state, batch = data.place(adapter)
    steps = []
    for _ in range(3):
        state, outputs = adapter.step(state, batch)
        adapter.wait(state, outputs)
        steps.append(float(adapter.results(outputs)))
    return steps

dialect = workload.dialect(STACKS[case.stack].dialect)
before = dict(vars(dialect))
print(json.dumps({"plain": losses(False), "read first": losses(True), "untouched": dict(vars(dialect)) == before}))
"""


def in_environment(stack: str, program: str, workload: str, **changes: Any) -> Any:
    """What a program prints that is given a training case at `tiny` and its workload's folder."""
    folder = catalog.HOME / workload
    dims = catalog.load(folder).dims("tiny", {})
    case = case_of(**{"stack": stack, "workload": folder.name, "dims": dims, "pass_": "train"} | changes)
    made = venv.ensure(STACKS[stack].environment, "cpu")
    asked = [made.python, "-c", program, json.dumps(case.to_json()), str(folder)]
    done = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.stacks
@pytest.mark.parametrize("stack", ASKED)
def test_two_adapters_of_one_process_agree_and_leave_the_dialect_as_it_was(stack: str) -> None:
    """In bf16, where an adapter has most to put between a dialect and its step."""
    told = in_environment(stack, TWO_ADAPTERS, ASKED[stack], precision="bf16")
    assert told["untouched"]
    assert told["plain"] == told["read first"]
    assert told["plain"][0] > told["plain"][2], "it learns"


WRITES = """
import numpy as np, tensorflow as tf
from suite.stacks.tensorflow import tf_eager_adapter, tf_optimizers
for part, shape in ((7, (5, 3)), (1, (4,)), (2, (3, 2, 2)), (100, ()), (100, (2, 2))):
    tf_eager_adapter.PART = part
    variable, value = tf.Variable(tf.zeros(shape)), np.random.default_rng(1).normal(size=shape).astype(np.float32)
    tf_eager_adapter.write(variable, value)
    assert (variable.numpy() == value).all(), (part, shape)
adamw = tf_optimizers.AdamW(tf, {"p": tf.Variable(tf.ones([2, 3]))})
step = tf.function(lambda: adamw.apply({"p": tf.ones([2, 3])}), jit_compile=False)
step()
adamw.release()
assert [tuple(moment.read_value().numpy().shape) for moment in adamw.moments["p"]] == [(0,), (0,)]
adamw.reset()
assert [moment.numpy().tolist() for moment in adamw.moments["p"]] == 2 * [[[0.0] * 3] * 2]
step()
"""


@pytest.mark.stacks
def test_tensorflow_s_variables_are_written_by_rows_and_its_moments_released() -> None:
    made = venv.ensure("tensorflow", "cpu")
    done = subprocess.run([made.python, "-c", WRITES], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


META = """
import json, os, sys
from pathlib import Path
from suite.case import Case
from suite.stacks.catalog import adapter_class
from suite.workloads import catalog
case = Case.from_json(json.loads(sys.argv[1]))
os.environ.update(adapter_class(case.stack).environ(case, "/nowhere"))
adapter = adapter_class(case.stack)(case, catalog.load(Path(sys.argv[2])))
adapter.device()
adapter.build()
print(json.dumps(sorted({tensor.device.type for tensor in adapter.model.state_dict().values()})))
"""


@pytest.mark.stacks
def test_torchax_s_module_holds_no_weights_of_its_own() -> None:
    """Its mode makes tensors of its own where `meta` is asked for: once the model was there twice."""
    assert in_environment("torchax_jit", META, "models/gpt2") == ["meta"]


SPACE = """
import json, os, sys
from pathlib import Path
from suite.case import Case
from suite.stacks.base import Unsupported
from suite.stacks.catalog import adapter_class
from suite.workloads import catalog
case = Case.from_json(json.loads(sys.argv[1]))
said = []
for caches in ("/no where", "/nowhere"):
    os.environ.update(adapter_class(case.stack).environ(case, caches))
    try:
        adapter_class(case.stack)(case, catalog.load(Path(sys.argv[2]))).device()
    except Unsupported as reason:
        said.append(str(reason))
print(json.dumps(said))
"""


@pytest.mark.stacks
def test_inductor_says_that_its_compiler_takes_no_path_with_a_space() -> None:
    (said,) = in_environment("torch_inductor", SPACE, "models/gpt2")
    assert said.endswith("there is a space in /no where/inductor")


def test_torchax_takes_from_jax_what_it_shares_with_it_and_nothing_from_eager_pytorch() -> None:
    torchax = adapter_class("torchax_jit")
    assert issubclass(torchax, jax_runtime.JaxAdapter)
    assert not issubclass(torchax, torch_eager_adapter.Adapter)
