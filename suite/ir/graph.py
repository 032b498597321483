"""An XLA program as a graph of operations, with calls inlined.

The graph doesn't need MLIR's bindings. So the code that recognises regions, which walks this graph, can be tested on
any machine.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

# Operations that change how numbers lie in memory or how they are rounded, not which numbers they are.
LAYOUT = frozenset({"reshape", "transpose", "broadcast_in_dim", "convert", "optimization_barrier"})


@dataclass(eq=False, slots=True)
class Value:
    """One tensor: the operation that makes it (None for an argument), its shape and element type (`f32`, `i1`)."""

    maker: Op | None
    shape: tuple[int, ...]
    dtype: str

    @property
    def nbytes(self) -> int:
        """Returns the bytes that the tensor takes in memory; a boolean takes one byte."""
        bits = re.search(r"\d+", self.dtype)
        width = max(8, int(bits[0])) // 8 if bits else 4
        return math.prod(self.shape) * width * (2 if self.dtype.startswith("complex") else 1)


@dataclass(eq=False, slots=True)
class Op:
    """One operation: its name without the dialect (`dot_general`), operands, results and attributes."""

    name: str
    operands: tuple[Value, ...]
    attributes: Mapping[str, Any] = field(default_factory=dict)
    results: tuple[Value, ...] = ()

    @property
    def result(self) -> Value:
        """Returns the first result; most operations have no other."""
        return self.results[0]


@dataclass(eq=False, slots=True)
class Graph:
    """A program: arguments, operations (each after those whose results it takes) and results.

    `aliases` is {number of a result: number of the argument into whose memory it is written}.
    """

    arguments: tuple[Value, ...]
    ops: list[Op]
    results: tuple[Value, ...]
    aliases: Mapping[int, int] = field(default_factory=dict)
    users: dict[Value, list[Op]] = field(default_factory=dict)
    # Values that depend on arguments; scalar arguments (PyTorch/XLA's) count as constants.
    dependent: set[Value] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.dependent.update(argument for argument in self.arguments if argument.shape)
        for op in self.ops:
            for value in op.operands:
                self.users.setdefault(value, []).append(op)
            if not self.dependent.isdisjoint(op.operands):
                self.dependent.update(op.results)

    def named(self, *names: str) -> Iterator[Op]:
        return (op for op in self.ops if op.name in names)

    def counts(self) -> Counter[str]:
        return Counter(op.name for op in self.ops)

    def consumers(self, value: Value, through: Collection[str] = LAYOUT) -> Iterator[Op]:
        """Yields, once each, the operations that take a value directly or after operations of the names `through`."""
        seen: set[Op] = set()
        pending = [value]
        while pending:
            for op in self.users.get(pending.pop(), ()):
                if op in seen:
                    continue
                seen.add(op)
                if op.name in through:
                    pending.extend(op.results)
                else:
                    yield op

    def bare(self, value: Value, names: Collection[str]) -> Value:
        """Returns the value from which this one was made by operations of these `names` with constants. So it leaves
        out scales, epsilons and masks. The condition of a `select` doesn't count as an operand."""
        while True:
            value = source(value)
            maker = value.maker
            if maker is None or maker.name not in names:
                return value
            operands = maker.operands[1:] if maker.name == "select" else maker.operands
            variables = [operand for operand in operands if operand in self.dependent]
            if len(variables) != 1:
                return value
            value = variables[0]


def source(value: Value, through: Collection[str] = LAYOUT) -> Value:
    """Returns the value from which this one was made by operations that only change its layout."""
    while value.maker is not None and value.maker.name in through:
        value = value.maker.operands[0]
    return value


def made_by(value: Value, *names: str) -> Op | None:
    """Returns the operation that made a value, apart from changes of its layout; None if the operation isn't one of
    `names`."""
    maker = source(value).maker
    return maker if maker is not None and maker.name in names else None


def ancestors(value: Value, names: Collection[str]) -> Iterator[Op]:
    """Yields, once each, the operations that lead to a value. It goes back only through operations that have one of
    these names or only change the layout."""
    seen: set[Op] = set()
    pending = [value]
    while pending:
        maker = pending.pop().maker
        if maker is None or maker in seen or not (maker.name in names or maker.name in LAYOUT):
            continue
        seen.add(maker)
        pending.extend(maker.operands)
        yield maker
