"""The weights of a port: of a file with two models, the second gets the first one's values."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from suite.workloads.questions.models import ModelLeaf
from suite.workloads.questions.ports.expressions import leaves_in, value_of
from suite.workloads.tensors import Tensor, generate

# Files of the folder in which a model is described (suite/worker/describe.py).
ASKED, LEAVES, ANSWER, REFUSED = "asked.json", "leaves.json", "answer.npz", "refused.txt"


@dataclass(frozen=True, slots=True)
class Ported(Tensor):
    """A leaf of a port: the value of an expression in leaves of the first model."""

    leaf: ModelLeaf
    expression: str
    sources: tuple[ModelLeaf, ...]

    def made(self, name: str, seed: int) -> NDArray[Any]:
        group = name.partition("/")[0]
        values = {it.short: it.native(generate(it.drawn(), f"{group}/{it.name}", seed)) for it in self.sources}
        return self.leaf.canonical(value_of(self.expression, values))


def write(path: Path, first: list[ModelLeaf], weights: Mapping[str, str]) -> None:
    path.write_text(json.dumps({"first": first, "weights": weights}), encoding="utf-8")


def ported(leaves: list[ModelLeaf], path: Path) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """Returns a port's parameters and buffers, by the file that `write` made."""
    written = json.loads(path.read_text(encoding="utf-8"))
    first = {leaf.short: leaf for leaf in map(read, written["first"])}
    found: tuple[dict[str, Tensor], dict[str, Tensor]] = ({}, {})
    for leaf in leaves:
        expression = written["weights"][leaf.short]
        sources = tuple(first[name] for name in dict.fromkeys(leaves_in(expression, first)))
        found[0 if leaf.trained else 1][leaf.name] = Ported(
            tuple(leaf.shape), leaf, expression, sources, dtype=leaf.dtype
        )
    return found


def read(row: list[Any]) -> ModelLeaf:
    leaf = ModelLeaf(*row)
    return leaf._replace(shape=tuple(leaf.shape))
