"""`torch_eager` that doesn't wait for its steps. On a CPU each of its calls returns when its work is done."""

from dataclasses import replace

from suite.stacks.catalog import STACKS
from suite.stacks.torch import torch_eager_adapter as torch_eager

STACK = replace(
    STACKS["torch_eager"], name="torch_eager_unwaited", title="PyTorch, eager, without waiting", targets=("cuda",)
)


class Adapter(torch_eager.Adapter):
    def wait(self, state, outputs):
        pass
