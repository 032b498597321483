"""What stacks hand to their compilers, counted side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from suite import units
from suite.answers.answer import Answer, answer
from suite.answers.sentences import first_question
from suite.case import Purpose
from suite.ir.findings import WORK, StackPrograms, by_kind, forms, ranks_words, total
from suite.ir.summary import Compiled
from suite.results.frame import Frame

STEP, REGIONS, OPERATIONS = "the step's program", "how regions were lowered", "operations"
GENERATED, WITHOUT = "kernels that generated code calls", "stacks without some program"
OPERATIONS_MAX = 30  # kinds of operation, which begin with the most frequent one of any program

COMPILATIONS = "compilations in three steps, by the framework's count"

Line = dict[str, Any]
Told = tuple[str, float | None, float | None]  # in words, the count, the bytes


@answer(
    "Compilers",
    heading="What the compilers are handed",
    terms=("program", "region", "compilations"),
    parts="part",
    across="stack",
    shown=("told",),
    in_markdown=False,
    topic="what the stacks hand to their compilers",
    purpose=Purpose.IR,
)
def programs(frame: Frame) -> Answer | None:
    """Untimed processes record the program of one step that the framework hands to XLA, and the program that XLA
    compiles from it. A region is a part of the forward pass, such as an attention or a layer norm, recognised by its
    structure. The tables leave out kinds of region that no program of the question has. The texts lie in the result
    set's folder *ir*."""
    found = frame.analysis.programs
    if not found:
        return None
    lines = []
    for question in found:
        without = [line(WITHOUT, "why", stack, reason) for stack, reason in question.without]
        of_question = [*counts(question.of_xla), *generated(question.stacks), *without]
        lines += [
            each | {"part": f"{question.name}: {each['part']}", "question": question.name} for each in of_question
        ]
    said = {question.name: sentence for question in found if (sentence := handed(question.of_xla))}
    first = first_question(said) or "No program that XLA compiles was recorded."
    return Answer(first, pl.DataFrame(lines, schema=TYPES), by_question=said)


TYPES = {
    **dict.fromkeys(("part", "quantity", "stack", "told", "question"), pl.String),
    **dict.fromkeys(("count", "bytes"), pl.Float64),
}


def handed(stacks: Sequence[StackPrograms]) -> str:
    """Returns a sentence on how many operations the stacks hand to XLA, and how many run once compiled; empty if XLA
    compiles no stack's program."""
    operations = sorted((stack.contents.size, stack.stack) for stack in stacks)
    run = sorted((stack.step.compiled.kernels, stack.stack) for stack in stacks if stack.step.compiled)
    parts = [
        f"{words}: {spread(counts)}"
        for words, counts in (("Operations handed to the compiler", operations), ("run, once compiled", run))
        if counts
    ]
    return f"{'; '.join(parts)}." if parts else ""


def spread(counts: Sequence[tuple[int, str]]) -> str:
    """Returns the least and the greatest of sorted counts, with their stacks."""
    (least, first), (greatest, last) = counts[0], counts[-1]
    return f"{least:,} ({first}) to {greatest:,} ({last})" if least < greatest else f"{least:,}"


def line(
    part: str, quantity: str, stack: str, told: str, count: float | None = None, size: float | None = None
) -> Line:
    return {"part": part, "quantity": quantity, "stack": stack, "told": told, "count": count, "bytes": size}


def number(count: int | None) -> Told:
    return (units.UNKNOWN if count is None else f"{count:,}"), count, None


def sized(count: int, size: int) -> Told:
    """Returns a count with its bytes: `444, 1.39 GiB`."""
    return (f"{count:,}, {units.quantity(size)}" if count else "none"), count, size


def counts(stacks: Sequence[StackPrograms]) -> Iterator[Line]:
    """Yields the tables of stacks whose programs XLA compiles."""
    runs = [name for name in WORK if any(each.step.compiled and each.step.compiled.runs.get(name) for each in stacks)]
    is_compiled = any(each.step.compiled for each in stacks)
    for stack in stacks:
        counted = of_step(stack) | (of_compiled(stack.step.compiled, runs) if is_compiled else {})
        yield from (line(STEP, quantity, stack.stack, *told) for quantity, told in counted.items())
    yield from regions(stacks)
    most = Counter[str]()
    for stack in stacks:
        most |= Counter(stack.contents.operations)
    for name, _ in most.most_common(OPERATIONS_MAX):
        for stack in stacks:
            yield line(OPERATIONS, name, stack.stack, *number(stack.contents.operations.get(name, 0)))


def of_step(stack: StackPrograms) -> dict[str, Told]:
    """Returns the counts of the step's program before it is compiled."""
    handed_over, cost = stack.contents, stack.contents.cost
    steps = dict.fromkeys(step for program in stack.large for step in program.steps)
    programs_ = f"{len(stack.large)}, compiled in the {' and '.join(steps)} step"
    return {
        "programs of a whole step": (programs_, len(stack.large), None),
        COMPILATIONS: compilations(stack),
        "operations": number(handed_over.size),
        "arguments": sized(handed_over.arguments, handed_over.argument_bytes),
        "results that reuse an argument's memory": sized(handed_over.aliased, handed_over.aliased_bytes),
        "results with newly allocated memory": sized(handed_over.kept, handed_over.kept_bytes),
        "products, by the dimensions of their first operand": (ranks_words(handed_over.ranks), None, None),
        "GFLOP by XLA's cost analysis": (units.digits(cost.flops / 1e9), cost.flops, None),
        "bytes by XLA's cost analysis, nothing fused": (units.quantity(cost.bytes), None, cost.bytes),
    }


def compilations(stack: StackPrograms) -> Told:
    """Returns how often each of three steps compiled: `1, 1, 0`."""
    told = ", ".join(units.UNKNOWN if count is None else str(count) for count in stack.compiles)
    return told or units.UNKNOWN, None, None


def of_compiled(compiled: Compiled | None, runs: Sequence[str]) -> dict[str, Told]:
    size = compiled.cost.bytes if compiled else None
    return {
        "compiled: operations": number(compiled.kernels if compiled else None),
        **{f"compiled: of these, {name}": number(compiled.runs.get(name, 0) if compiled else None) for name in runs},
        "compiled: bytes": (units.quantity(size), None, size),
    }


def regions(stacks: Sequence[StackPrograms]) -> Iterator[Line]:
    """Yields how each kind of region was lowered; `not recognised` where only another stack's program has the kind."""
    recognised = {stack.stack: by_kind(stack.contents) for stack in stacks}
    for kind in sorted({kind for of_stack in recognised.values() for kind in of_stack}):
        for stack, of_stack in recognised.items():
            told = forms(of_stack[kind]) if kind in of_stack else "not recognised"
            yield line(REGIONS, kind, stack, told, total(of_stack.get(kind, ())))


def generated(stacks: Sequence[StackPrograms]) -> Iterator[Line]:
    """Yields how often generated code calls each kernel, over all of its graphs."""
    called = [(stack, [program.kernels or {} for program in stack.programs]) for stack in stacks if stack.step.kernels]
    names = sorted({name for _, graphs in called for graph in graphs for name in graph})
    for stack, graphs in called:
        counted = {
            "graphs": number(len(graphs)),
            "graph breaks": number(stack.graph_breaks),
            COMPILATIONS: compilations(stack),
            **{name: number(sum(graph.get(name, 0) for graph in graphs)) for name in names},
        }
        yield from (line(GENERATED, quantity, stack.stack, *told) for quantity, told in counted.items())
