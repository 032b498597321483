"""TorchTPU's stacks, on a machine without a TPU: what they set, what they lower, and what torch.compile traces of them.
TorchTPU's device is registered as `import torch` does it on a TPU; nothing is run on it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from suite.workloads import catalog
from tests.stacks.programs import WITH_CASE, told
from tests.worker.processes import case_of

pytestmark = [pytest.mark.stacks, pytest.mark.environments("torch_tpu")]

# PyTorch counts devices when it first needs a stream, and libtpu would ask Google's cloud about a TPU that isn't there.
REGISTERED = f"""{WITH_CASE}
os.environ.update({{"TPU_SKIP_MDS_QUERY": "1", "TPU_WORKER_HOSTNAMES": "localhost", "TPU_ACCELERATOR_TYPE": "v6e-1"}})
from torch_tpu import _loader
_loader._init_device("tpu")
"""
LOWERED = f"""{REGISTERED}
import torch
from torch_tpu._internal import execution_mode
from torch_tpu._internal.compile import tpu_torch_compile
adapter = adapter_class(case.stack)(case, workload)
mode = execution_mode.eager_mode.name
adapter.home = torch.device("tpu")
with execution_mode.set_eager_mode(execution_mode.EagerMode._INTERNAL_COMPILE_FX_GRAPH):
    a = tpu_torch_compile.placeholder([8, 8], torch.float32)
    module = tpu_torch_compile.build_mlir([adapter.in_precision(torch.matmul)(a, a)], [a])
    text = tpu_torch_compile.serialize_mlir_text(module)
(product,) = [line for line in text.splitlines() if "dot_general" in line]
print(json.dumps([mode, "HIGHEST, HIGHEST" in product, "bf16" in product]))
"""
# The step's graph is run by PyTorch on the CPU, where TorchTPU's backend would hand it to XLA.
TRACED = f"""{REGISTERED}
import torch
from suite.stacks.torch import torch_eager_adapter
from torch._dynamo.utils import counters

class OnCpu:
    def device(self):
        self.home = torch.device("cpu")
    def wait(self, state, outputs):
        pass

class Compiled(OnCpu, adapter_class(case.stack)):
    def compile(self, function):
        return torch.compile(function, backend="aot_eager", dynamic=False, fullgraph=True)

class Eager(OnCpu, torch_eager_adapter.Adapter):
    pass

def told(kind):
    adapter, data = kind(case, workload), Data(case, workload, 0)
    adapter.device()
    adapter.build()
    state, batch = data.place(adapter)
    losses = []
    for _ in range(3):
        state, outputs = adapter.step(state, batch)
        losses.append(float(adapter.results(outputs)))
    graphs, left = counters["stats"]["unique_graphs"], sum(p.grad is not None for p in adapter.model.parameters())
    moments = sum(float(abs(m).sum()) for m in adapter.read("moments", state, batch).values())
    return dict(losses=losses, graphs=graphs, left=left, moments=moments)

print(json.dumps([told(Eager), told(Compiled)]))
"""


def of_case(program: str, workload: str = "ops/ffn", **changes: Any) -> Any:
    folder = catalog.HOME / workload
    dims = catalog.load(folder).dims("tiny", {})
    case = case_of(**{"workload": folder.name, "dims": dims, "pass_": "train", "target": "tpu"} | changes)
    return told("torch_tpu", program, json.dumps(case.to_json()), target="tpu")


@pytest.mark.parametrize(
    ("stack", "mode"),
    [("torch_tpu_eager", "DEFER_NEVER"), ("torch_tpu_fused", "DEFER_AND_FUSE"), ("torch_tpu_compiled", "DEFER_NEVER")],
)
def test_the_mode_is_set_and_a_product_is_lowered_in_the_declared_precision(stack: str, mode: str) -> None:
    assert of_case(LOWERED, stack=stack) == [mode, True, False]
    assert of_case(LOWERED, stack=stack, precision="bf16") == [mode, False, True]


@pytest.mark.parametrize("workload", ["ops/ffn", "models/resnet50"])  # AdamW and SGD
def test_a_compiled_step_is_one_graph_with_its_update_and_keeps_no_gradient(workload: str) -> None:
    eager, compiled = of_case(TRACED, workload, stack="torch_tpu_compiled")
    assert (compiled["graphs"], compiled["left"]) == (1, 0)
    assert eager["graphs"] == 0 < eager["left"]
    assert compiled["losses"] == pytest.approx(eager["losses"], rel=1e-5)
    assert compiled["losses"][0] != compiled["losses"][2], "it trains"
    assert compiled["moments"] == pytest.approx(eager["moments"], rel=1e-4)
