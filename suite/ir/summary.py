"""The summary that a result set keeps beside the text of a program: counts, sizes and recognised regions.

`suite.ir.analyse` writes it in the environment `jax`; the report reads it without that environment.
"""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from suite.ir.graph import Graph, Value
from suite.ir.regions import PRODUCTS, recognised


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """The floating-point operations and bytes of one call, by XLA's cost analysis. It counts a loop's body once."""

    flops: float
    bytes: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiled:
    """The counts of an optimized program. `runs` counts the operations that the program itself runs, by name; `kernels`
    is how many of them do work. `inside` counts all operations, those inside fusions included."""

    kernels: int
    runs: Mapping[str, int]
    inside: Mapping[str, int]
    custom_calls: Mapping[str, int]
    cost: Cost


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """The counts of an XLA program as it is handed to the compiler. Bytes are those of tensors.

    `aliased` counts the results that are written into the memory of arguments. `kept` counts the other results, which
    need memory beside the arguments. `ranks` counts products by the number of dimensions of their first operand.
    `regions` has (kind, form, how many).
    """

    operations: Mapping[str, int]
    arguments: int
    argument_bytes: int
    results: int
    result_bytes: int
    aliased: int
    aliased_bytes: int
    kept: int
    kept_bytes: int
    ranks: Mapping[str, int]
    regions: tuple[tuple[str, str, int], ...]
    cost: Cost

    @property
    def size(self) -> int:
        return sum(self.operations.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """One program that a stack hands to its compiler, or that its compiler generates.

    `steps` are the steps in which it was compiled; `told_by` says where its text comes from. A program of XLA has
    `contents`, and `compiled` if the compiler left its result; `unread` says why that result couldn't be read.
    Generated code has `kernels`, the number of calls of each kernel. The fields are those of the stored JSON.
    """

    name: str
    steps: tuple[str, ...]
    told_by: str
    contents: Contents | None = None
    compiled: Compiled | None = None
    kernels: Mapping[str, int] | None = None
    unread: str = ""


def contents(graph: Graph, cost: Cost) -> Contents:
    in_place = [graph.results[number] for number in graph.aliases]
    kept_results = [result for number, result in enumerate(graph.results) if number not in graph.aliases]
    products = Counter(str(len(op.operands[0].shape)) for op in graph.named(*PRODUCTS))
    regions = [(region.kind, region.form, count) for region, count in recognised(graph).items()]
    return Contents(
        operations=dict(graph.counts().most_common()),
        arguments=len(graph.arguments),
        argument_bytes=nbytes(graph.arguments),
        results=len(graph.results),
        result_bytes=nbytes(graph.results),
        aliased=len(in_place),
        aliased_bytes=nbytes(in_place),
        kept=len(kept_results),
        kept_bytes=nbytes(kept_results),
        ranks=dict(sorted(products.items())),
        regions=tuple(sorted(regions, key=lambda region: (region[0], -region[2], region[1]))),
        cost=cost,
    )


def nbytes(values: Iterable[Value]) -> int:
    return sum(value.nbytes for value in values)


def written(programs: list[Program]) -> str:
    return json.dumps([dataclasses.asdict(program) for program in programs], indent=1)
