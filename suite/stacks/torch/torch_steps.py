"""Steps that a question brings, on PyTorch's stacks: its setup makes the state, which a step may change in place."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from suite.stacks.base import Named, Unsupported
from suite.stacks.observed import Batch, Observed, State
from suite.stacks.torch import torch_modules
from suite.workloads.tensors import Tensor


class OwnStep:
    """Mixed into an adapter of PyTorch. State: the file's own, by name."""

    holders = Observed.holders

    def build(self: Any, abstract: bool = False) -> None:
        if abstract:
            raise Unsupported("a step of the file's own needs tensors")
        self.model = self.torch.nn.Module()  # the file's modules are in its state
        self.form = self.code()
        self.compiled = self.compile(self.form.step)
        self.call = self.own_step

    def own_step(self: Any, state: State, batch: Batch) -> tuple[State, Any]:
        after: tuple[State, Any] = self.form.advance(self.compiled, state, batch)
        return after

    def place(self: Any, parameters: Named, batch: Named, moments: bool = True) -> tuple[State, Batch]:
        values = {name: self.put_typed(self.tensors.parameters[name], value) for name, value in parameters}
        inputs = {name: self.put_input(name, value) for name, value in batch}
        state = self.form.start(values, inputs)
        self.wait(state, None)
        self.cut()
        return state, inputs

    def put_typed(self: Any, declared: Tensor, value: NDArray[Any]) -> Any:
        return self.put(torch_modules.native(declared, value)).to(self.torch_type(declared))

    def read(self: Any, what: str, state: State, batch: Batch) -> dict[str, NDArray[Any]]:
        return {name: self.host(value) for name, value in self.form.values(state).items()}
