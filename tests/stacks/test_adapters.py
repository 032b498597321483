"""What every adapter keeps to: it leaves the dialect's module as it was, and a state to be read has no moments."""

from __future__ import annotations

import json
from typing import Any

import pytest

from suite.stacks import base
from suite.stacks.catalog import STACKS, adapter_class
from suite.stacks.jax import jax_runtime
from suite.stacks.torch import torch_eager_adapter
from suite.workloads import catalog
from tests.stacks.programs import WITH_CASE, told
from tests.worker.processes import case_of

# Eager JAX dispatches each primitive by itself, and torchax compiles for a minute: an operation will do.
ASKED = {
    "jax_eager": "ops/ffn",
    "jax_jit": "models/gpt2",
    "torch_eager": "models/gpt2",
    "torchax_jit": "ops/ffn",
    "tf_graph": "models/gpt2",
    "keras_jax": "models/gpt2",
    "keras_torch": "models/resnet50",
    "keras_tf": "ops/ffn",
}
TWO_ADAPTERS = f"""{WITH_CASE}
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
print(json.dumps(dict(plain=losses(False), read_first=losses(True), untouched=dict(vars(dialect)) == before)))
"""


def in_environment(stack: str, program: str, workload: str, **changes: Any) -> Any:
    """What a program prints that is given a training case at `tiny`."""
    folder = catalog.HOME / workload
    dims = catalog.load(folder).dims("tiny", {})
    case = case_of(**{"stack": stack, "workload": folder.name, "dims": dims, "pass_": "train"} | changes)
    return told(STACKS[stack].environment, program, json.dumps(case.to_json()))


@pytest.mark.stacks
@pytest.mark.parametrize("stack", ASKED)
def test_two_adapters_of_one_process_agree_and_leave_the_dialect_as_it_was(stack: str) -> None:
    """In bf16, where an adapter has most to put between a dialect and its step."""
    found = in_environment(stack, TWO_ADAPTERS, ASKED[stack], precision="bf16")
    assert found["untouched"]
    assert found["plain"] == found["read_first"]
    assert found["plain"][0] > found["plain"][2], "it learns"


WRITES = """
import numpy as np, tensorflow as tf
from suite.stacks.tensorflow import tf_eager_adapter, tf_optimizers
for part, shape in ((7, (5, 3)), (1, (4,)), (2, (3, 2, 2)), (100, ()), (100, (2, 2))):
    tf_eager_adapter.PART = part
    variable, value = tf.Variable(tf.zeros(shape)), np.random.default_rng(1).normal(size=shape).astype(np.float32)
    tf_eager_adapter.write(tf, variable, value)
    assert (variable.numpy() == value).all(), (part, shape)
    one, another = (np.asarray(memoryview(variable.read_value())) for _ in range(2))
    assert np.shares_memory(one, another), "a read is a copy"
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
    told("tensorflow", WRITES)


UNSTABLE = f"""{WITH_CASE}
adapter = adapter_class(case.stack)(case, workload)
adapter.device()
adapter.build()
print(json.dumps(adapter.is_unstable()))
"""


@pytest.mark.stacks
@pytest.mark.parametrize(
    ("stack", "batch", "is_unstable"), [("tf_graph", 1, True), ("tf_graph", 2, False), ("tf_xla", 1, False)]
)
def test_only_tensorflow_s_graph_of_one_row_is_held_to_be_unstable(stack: str, batch: int, is_unstable: bool) -> None:
    dims = catalog.load(catalog.HOME / "models/decode").dims("tiny", {"batch": batch})
    assert in_environment(stack, UNSTABLE, "models/decode", pass_="forward", dims=dims) == is_unstable


FREEZING = f"""{WITH_CASE}
adapter, data = adapter_class(case.stack)(case, workload), Data(case, workload, 0)
adapter.device()
adapter.build()
state, batch = data.place(adapter)
def output():
    return float(adapter.results(adapter.step(state, batch)[1]).sum())
before = output()
with adapter.torch.no_grad():
    for parameter in adapter.model.parameters():
        parameter.zero_()
changed = output()
state, batch = data.place(adapter)
print(json.dumps([changed != 0, output() == before]))
"""


@pytest.mark.stacks
@pytest.mark.parametrize(("track", "frozen"), [("default", False), ("tuned", True)])
def test_inductor_s_weights_are_constants_in_the_tuned_track_alone(track: str, frozen: bool) -> None:
    assert in_environment("torch_inductor", FREEZING, "ops/ffn", pass_="forward", track=track) == [frozen, True]


META = f"""{WITH_CASE}
adapter = adapter_class(case.stack)(case, workload)
adapter.device()
adapter.build()
print(json.dumps(sorted(set(tensor.device.type for tensor in adapter.model.state_dict().values()))))
"""


@pytest.mark.stacks
def test_torchax_s_module_holds_no_weights_of_its_own() -> None:
    """Its mode makes tensors of its own where `meta` is asked for: once the model was there twice."""
    assert in_environment("torchax_jit", META, "models/gpt2") == ["meta"]


SPACE = f"""{WITH_CASE}
from suite.stacks.base import Unsupported
said = []
for caches in ("/no where", "/nowhere"):
    os.environ.update(adapter_class(case.stack).environ(case, caches))
    try:
        adapter_class(case.stack)(case, workload).device()
    except Unsupported as reason:
        said.append(str(reason))
print(json.dumps(said))
"""


@pytest.mark.stacks
def test_inductor_says_that_its_compiler_takes_no_path_with_a_space() -> None:
    (said,) = in_environment("torch_inductor", SPACE, "models/gpt2")
    assert said.endswith("there is a space in /no where/inductor")


@pytest.mark.parametrize("stack", STACKS)
def test_the_gate_s_second_adapter_is_made_by_the_base_class_alone(stack: str) -> None:
    assert adapter_class(stack).adapter_in is base.Adapter.adapter_in


def test_torchax_takes_from_jax_what_it_shares_with_it_and_nothing_from_eager_pytorch() -> None:
    torchax = adapter_class("torchax_jit")
    assert issubclass(torchax, jax_runtime.JaxAdapter)
    assert not issubclass(torchax, torch_eager_adapter.Adapter)
