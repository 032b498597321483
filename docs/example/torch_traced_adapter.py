"""PyTorch traced by torch.compile as for Inductor, but run by PyTorch's own kernels: what tracing alone is worth.

./stackwars run --stack-path=docs/example --stack=torch_traced --stack=torch_eager --preset=ops
"""

from suite.stacks.catalog import AUTOCAST, MIB, Stack
from suite.stacks.torch import torch_eager_adapter as torch_eager

STACK = Stack(
    "torch_traced",
    "PyTorch, torch.compile without Inductor",
    "torch",
    "torch",
    eager="torch_eager",
    targets=("cpu", "cuda"),
    mixed_precision=AUTOCAST,
    estimate_seconds=10.0,
    base_bytes=150 * MIB,
)


class Adapter(torch_eager.Adapter):
    """The traced step keeps its operations; its backward pass is made with it."""

    def compile(self, function):
        return self.torch.compile(function, backend="aot_eager", fullgraph=True)

    def jit(self, function, static=()):
        return self.torch.compile(function, backend="aot_eager")

    def counters(self):
        from torch._dynamo.utils import counters

        return super().counters() | {
            "compiles": counters["stats"]["unique_graphs"],
            "graph_breaks": sum(counters["graph_break"].values()),
        }
