"""One call: its values, what is right for them, and whether a result is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suite.errors import UserError, at_line
from suite.extras.judge import family
from suite.reference.expected import named
from suite.reference.findings import GateFindings
from suite.reference.tolerances import Tolerances
from suite.workloads import trees
from suite.workloads.questions.arguments import tensors_of
from suite.workloads.questions.question import Question
from suite.workloads.tensors import Tensor, exact

Got = list[tuple[str, NDArray[Any]]]  # a result's leaves by their names


@dataclass
class Call:
    """A call's values, as this process has drawn them."""

    question: Question
    dims: Mapping[str, int]
    tensors: dict[str, Tensor]
    values: dict[str, NDArray[Any]]

    @classmethod
    def drawn(cls, question: Question, dims: Mapping[str, int], *, strange: bool = False) -> Call:
        """Raises UserError for dims that `inputs` doesn't take."""
        tensors = tensors_of(question.arguments(dims))
        return cls(question, dims, tensors, family.values(tensors, strange=strange))

    @cached_property
    def data(self) -> dict[str, bytes]:
        return {name: family.as_bytes(self.tensors[name], held) for name, held in self.values.items()}

    @property
    def nbytes(self) -> int:
        return sum(tensor.nbytes for tensor in self.tensors.values())

    @cached_property
    def right(self) -> Any:
        """What the file before says is right, a tree in float64. Raises UserError where it can't say so."""
        try:
            return self.question.spec.reference(
                self.dims, {}, **{name: exact(held) for name, held in self.values.items()}
            )["output"]
        except Exception as broken:  # somebody's reference raises anything
            where = at_line(broken, self.question.folder)
            raise UserError(f"The reference of {self.question.folder} failed: {where}.") from broken

    def wrong(self, got: Got) -> str:
        """Returns why a result is wrong; empty if it is right."""
        wanted = [name for name, _ in trees.leaves(self.right)]
        if [name for name, _ in got] != wanted:
            return f"it has the results {[name for name, _ in got]}, the reference has {wanted}"
        types = {name: tensor.dtype for name, tensor in self.tensors.items()}
        findings = GateFindings(Tolerances(self.question.spec, "f32", exact=True, types=types))
        with np.errstate(all="ignore"):
            findings.hold_all("{}", self.compared(trees.filled(self.right, dict(got))), self.compared(self.right))
        return findings.reason

    def compared(self, outputs: Any) -> dict[str, NDArray[Any]]:
        if hasattr(self.question.spec, "canonical"):
            tree = trees.filled(self.question.arguments(self.dims), self.values)
            outputs = self.question.spec.canonical(outputs, **tree)
        return named(outputs)
