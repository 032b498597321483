"""Steps that a question brings, on PyTorch's stacks: its setup makes the state, which a step may change in place."""

from __future__ import annotations

from suite.stacks.base import Unsupported
from suite.stacks.observed import Observed
from suite.stacks.torch import torch_modules


class OwnStep:
    """Mixed into an adapter of PyTorch. State: the file's own, by name."""

    holders = Observed.holders

    def build(self, abstract=False):
        if abstract:
            raise Unsupported("a step of the file's own needs tensors")
        self.model = self.torch.nn.Module()  # the file's modules are in its state
        self.form = self.code()
        self.compiled = self.compile(self.form.step)
        self.call = self.own_step

    def own_step(self, state, batch):
        return self.form.advance(self.compiled, state, batch)

    def place(self, parameters, batch, moments=True):
        values = {name: self.put_typed(self.tensors.parameters[name], value) for name, value in parameters}
        batch = {name: self.put_input(name, value) for name, value in batch}
        state = self.form.start(values, batch)
        self.wait(state, None)
        self.cut()
        return state, batch

    def put_typed(self, declared, value):
        return self.put(torch_modules.native(declared, value)).to(self.torch_type(declared))

    def read(self, what, state, batch):
        return {name: self.host(value) for name, value in self.form.values(state).items()}
