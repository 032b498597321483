"""The common code of all stacks that run the forward pass of an nn.Module as torch.export sees it.

Weights are inputs of the program, as on all other stacks, unless `has_frozen_weights` says that they are its constants.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from suite.stacks import base
from suite.stacks.base import Unsupported
from suite.stacks.catalog import STACKS
from suite.stacks.torch import torch_eager_adapter as torch_eager


@dataclass
class State:
    """Weights by their names in the model, and the program that runs with them: from their first step on."""

    weights: dict[str, Any]
    program: Any = None


class ExportedAdapter(torch_eager.Adapter):
    """A program is exported, and compiled for the machine, in the first step: as a compiler's is.

    A subclass has `prepared`, which exports a function on shapes, and `program`, which makes the result ready to be
    called with a batch; it returns the tree of results, in memory of their own. A program's `read`, if it has one,
    computes the same by another way. `value` and `tensor` turn PyTorch's tensors into the runtime's own, and back.
    """

    knobs = ()
    untraceable = ("GuardOnDataDependentSymNode", "DynamicOutputShapeException", "DataDependentOutputException")
    lacks: tuple[str, ...] = ()  # types of tensors, by the beginnings of their names
    holders, profile = base.Adapter.holders, base.Adapter.profile  # eager's know nothing of a program
    compile, compile_on_shapes = torch_eager.Adapter.compile, base.Adapter.compile_on_shapes

    def __init__(self, case, workload):
        super().__init__(case, workload)
        self.title = STACKS[case.stack].title
        self.artefact, self.programs_made = None, 0

    def matmul(self, a, b):
        operands = {"input": self.value(self.put(a)), "other": self.value(self.put(b))}
        return self.fetch(self.program(self.prepared(self.product, {}, operands), {})(operands))

    def product(self, weights, batch):
        return self.in_precision(self.torch.matmul)(**batch)

    def build(self, abstract=False):
        if lacking := sorted({dtype for dtype in self.types.values() if dtype.startswith(self.lacks)}):
            raise Unsupported(f"{self.title} has no {lacking[0]} tensors")
        super().build(abstract)

    def place(self, parameters, batch, moments=True):
        weights = {name: self.value(self.put(self.layouts.native(name, value))) for name, value in parameters}
        for name, buffer in self.model.named_buffers():
            if name not in weights:
                empty = self.torch.zeros(buffer.shape, dtype=buffer.dtype)
                weights[name] = self.value(self.constants.get(name, empty))
        return State(weights), {name: self.value(self.put_input(name, value)) for name, value in batch}

    def value(self, tensor):
        return tensor.contiguous()

    def tensor(self, value):
        return value

    def step(self, state, batch):
        return state, self.made(state, batch)(batch)

    def made(self, state, batch, **options):
        """Returns the program of a state, which is made at the first call."""
        if state.program is None:
            if self.artefact is None:
                self.artefact = self.prepared(self.call_model, state.weights, batch)
            state.program = self.program(self.artefact, state.weights, **options)
        return state.program

    def call_model(self, weights, batch):
        call = self.in_precision(self.torch.func.functional_call)
        return call(self.model, weights, kwargs=batch)

    def on_shapes(self, function, weights, batch):
        """Returns `function(weights, batch)` as a module, and its arguments without values: no value can become part
        of a program that is exported from them."""
        from torch._subclasses.fake_tensor import FakeTensorMode

        class Exported(self.torch.nn.Module):
            def forward(self, weights, batch):
                return function(weights, batch)

        with FakeTensorMode():
            fakes = {
                group: {
                    name: self.torch.empty(tensor.shape, dtype=tensor.dtype)
                    for name, tensor in ((name, self.tensor(value)) for name, value in values.items())
                }
                for group, values in {"weights": weights, "batch": batch}.items()
            }
        return Exported().eval(), fakes

    def exported(self, function, weights, batch):
        """Returns `function(weights, batch)` as torch.export's program."""
        module, fakes = self.on_shapes(function, weights, batch)
        with self.torch.no_grad():
            return self.torch.export.export(module, (), fakes)

    def fetch(self, array):
        return super().fetch(self.tensor(array))

    def type_of(self, array):
        return super().type_of(self.tensor(array))

    def read(self, what, state, batch):
        if what == "parameters":
            return {
                name: self.canonical(name, self.tensor(value))
                for name, value in state.weights.items()
                if name in self.tensors.parameters or name in self.buffers
            }
        if what == "output":
            program = self.made(state, batch)
            return {"output": self.results(getattr(program, "read", program)(batch))}
        raise Unsupported(f"{self.title} takes no gradients")

    def update(self, parameters, gradients):
        raise Unsupported(f"{self.title} has no optimizers")

    def counters(self):
        return super().counters() | {"compiles": self.programs_made}  # one for each program


def refuse_complex_results(exported, title):
    """Raises Unsupported for an exported program with a complex result, in a runtime that has no such tensors."""
    if any(node.meta["val"].is_complex() for node in exported.graph.output_node().args[0]):
        raise Unsupported(f"{title} has no complex tensors, and a result is one")
