"""A program of XLA's as a graph of operations: calls written out, with users, free of MLIR's bindings.

What recognises regions walks this graph, so that it can be tested on any machine.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

# Which change how numbers lie in memory or how they are rounded, not which numbers they are.
LAYOUT = frozenset({"reshape", "transpose", "broadcast_in_dim", "convert", "optimization_barrier"})


@dataclass(eq=False, slots=True)
class Value:
    """One tensor: what makes it (None: an argument of the program), its shape and element type (`f32`, `i1`)."""

    maker: Op | None
    shape: tuple[int, ...]
    dtype: str

    @property
    def nbytes(self) -> int:
        """In memory; a truth value takes a byte."""
        bits = re.search(r"\d+", self.dtype)
        width = max(8, int(bits[0])) // 8 if bits else 4
        return math.prod(self.shape) * width * (2 if self.dtype.startswith("complex") else 1)


@dataclass(eq=False, slots=True)
class Op:
    """One operation: its name without the dialect's (`dot_general`), operands, results and what else it is told."""

    name: str
    operands: tuple[Value, ...]
    attributes: Mapping[str, Any] = field(default_factory=dict)
    results: tuple[Value, ...] = ()

    @property
    def result(self) -> Value:
        """The first, of most operations the only one."""
        return self.results[0]


@dataclass(eq=False, slots=True)
class Graph:
    """A program: operations, each after what it takes; arguments, results, and which of these take whose place."""

    arguments: tuple[Value, ...]
    ops: list[Op]
    results: tuple[Value, ...]
    aliases: Mapping[int, int] = field(default_factory=dict)  # {number of a result: number of an argument}
    users: dict[Value, list[Op]] = field(default_factory=dict)
    given: set[Value] = field(default_factory=set)  # what depends on arguments; scalars (PyTorch/XLA's) are constants

    def __post_init__(self) -> None:
        self.given.update(argument for argument in self.arguments if argument.shape)
        for op in self.ops:
            for value in op.operands:
                self.users.setdefault(value, []).append(op)
            if not self.given.isdisjoint(op.operands):
                self.given.update(op.results)

    def named(self, *names: str) -> Iterator[Op]:
        """Operations of these names, in order."""
        return (op for op in self.ops if op.name in names)

    def counts(self) -> Counter[str]:
        """How many operations there are of each name."""
        return Counter(op.name for op in self.ops)

    def consumers(self, value: Value, through: Collection[str] = LAYOUT) -> Iterator[Op]:
        """What takes a value, also after its layout was changed; each once, however many ways lead to it."""
        seen: set[Op] = set()
        left = [value]
        while left:
            for op in self.users.get(left.pop(), ()):
                if op in seen:
                    continue
                seen.add(op)
                if op.name in through:
                    left.extend(op.results)
                else:
                    yield op

    def bare(self, value: Value, names: Collection[str]) -> Value:
        """What is left of a value once operations of these names with constants are taken off: scales, epsilons, masks
        (of a choice, the condition is no operand)."""
        while True:
            value = source(value)
            maker = value.maker
            if maker is None or maker.name not in names:
                return value
            operands = maker.operands[1:] if maker.name == "select" else maker.operands
            given = [operand for operand in operands if operand in self.given]
            if len(given) != 1:
                return value
            value = given[0]


def source(value: Value, through: Collection[str] = LAYOUT) -> Value:
    """What a value was before its layout was changed."""
    while value.maker is not None and value.maker.name in through:
        value = value.maker.operands[0]
    return value


def made_by(value: Value, *names: str) -> Op | None:
    """The operation that made a value, before its layout was changed, if it is one of these."""
    maker = source(value).maker
    return maker if maker is not None and maker.name in names else None


def ancestors(value: Value, names: Collection[str]) -> Iterator[Op]:
    """All operations behind a value, as far as they have these names or change the layout alone; each once."""
    seen: set[Op] = set()
    left = [value]
    while left:
        maker = left.pop().maker
        if maker is None or maker in seen or not (maker.name in names or maker.name in LAYOUT):
            continue
        seen.add(maker)
        left.extend(maker.operands)
        yield maker
