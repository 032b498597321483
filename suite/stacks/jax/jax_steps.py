"""Steps that a question brings, in JAX: its setup makes the state, which is donated to each step."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from suite.stacks import base
from suite.stacks.base import Named
from suite.stacks.observed import Batch, State


class OwnStep:
    """Mixed into an adapter of JAX. State: the file's own, by name."""

    def build(self: Any, abstract: bool = False) -> None:
        if abstract:
            raise base.Unsupported("a step of the file's own needs arrays")
        self.form = self.code()
        self.call = self.program = self.compile(self.form.advance, donate_argnums=(0,))

    def arguments(self: Any, state: State, batch: Batch) -> tuple[Any, ...]:
        return state, batch

    def place(self: Any, parameters: Named, batch: Named, moments: bool = True) -> tuple[State, Batch]:
        values, inputs = ({name: self.put_named(name, value) for name, value in each} for each in (parameters, batch))
        placed: tuple[State, Batch] = self.jax.block_until_ready((self.form.start(values, inputs), inputs))
        return placed

    def read(self: Any, what: str, state: State, batch: Batch) -> dict[str, NDArray[Any]]:
        return {name: base.plain(value) for name, value in self.form.values(state).items()}
