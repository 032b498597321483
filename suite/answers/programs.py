"""What stacks hand to their compilers, counted side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from suite import units
from suite.answers.answer import Answer, answer
from suite.answers.sentences import first_of
from suite.case import Purpose
from suite.ir.findings import WORK, StackPrograms, by_kind, forms, ranks_words
from suite.ir.summary import Compiled, Contents, Program
from suite.results.frame import Frame

STEP, REGIONS, OPERATIONS = "the step's program", "how regions were lowered", "operations"
GENERATED, WITHOUT = "kernels that generated code calls", "stacks without some program"
OPERATIONS_MAX = 30  # kinds of operation, which begin with the most frequent one of any program

Line = dict[str, Any]


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
    first = first_of([f"{question}: {sentence}" for question, sentence in said.items()], "question")
    return Answer(
        first or "No program that XLA compiles was recorded.", pl.DataFrame(lines, schema=TYPES), by_question=said
    )


TYPES = {
    **dict.fromkeys(("part", "quantity", "stack", "told", "question"), pl.String),
    **dict.fromkeys(("count", "bytes"), pl.Float64),
}


def handed(stacks: Sequence[StackPrograms]) -> str:
    """Returns a sentence on how many operations the stacks hand to XLA, and how many run once compiled; empty if XLA
    compiles no stack's program."""
    operations = sorted((stack.step.contents.size, stack.stack) for stack in stacks if stack.step.contents)
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


def number(part: str, quantity: str, stack: str, count: int | None) -> Line:
    return line(part, quantity, stack, units.UNKNOWN if count is None else f"{count:,}", count)


def sized(quantity: str, stack: str, count: int, size: int) -> Line:
    """Returns a count with its bytes: `444, 1.39 GiB`."""
    return line(STEP, quantity, stack, f"{count:,}, {units.quantity(size)}" if count else "none", count, size)


def counts(stacks: Sequence[StackPrograms]) -> Iterator[Line]:
    """Yields the tables of stacks whose programs XLA compiles."""
    if not stacks:
        return
    runs = [name for name in WORK if any(each.step.compiled and each.step.compiled.runs.get(name) for each in stacks)]
    for stack in stacks:
        yield from of_step(stack, contents_of(stack))
        if any(each.step.compiled for each in stacks):
            yield from of_compiled(stack.stack, stack.step.compiled, runs)
    yield from regions(stacks)
    most = Counter[str]()
    for stack in stacks:
        most |= Counter(contents_of(stack).operations)
    for name, _ in most.most_common(OPERATIONS_MAX):
        for stack in stacks:
            yield number(OPERATIONS, name, stack.stack, contents_of(stack).operations.get(name, 0))


def contents_of(stack: StackPrograms) -> Contents:
    """Returns the contents of the step's program, which must be one that XLA compiles."""
    assert stack.step.contents is not None
    return stack.step.contents


def of_step(programs_: StackPrograms, handed_over: Contents) -> Iterator[Line]:
    """Yields the counts of the step's program before it is compiled."""
    stack, cost = programs_.stack, handed_over.cost
    yield line(STEP, "programs of a whole step", stack, steps_words(programs_.large), len(programs_.large))
    yield compilations(STEP, programs_)
    yield number(STEP, "operations", stack, handed_over.size)
    yield sized("arguments", stack, handed_over.arguments, handed_over.argument_bytes)
    yield sized("results that reuse an argument's memory", stack, handed_over.aliased, handed_over.aliased_bytes)
    yield sized("results with newly allocated memory", stack, handed_over.kept, handed_over.kept_bytes)
    yield line(STEP, "products, by the dimensions of their first operand", stack, ranks_words(handed_over.ranks))
    yield line(STEP, "GFLOP by XLA's cost analysis", stack, units.digits(cost.flops / 1e9), cost.flops)
    bytes_by_xla = "bytes by XLA's cost analysis, nothing fused"
    yield line(STEP, bytes_by_xla, stack, units.quantity(cost.bytes), size=cost.bytes)


def steps_words(of_step_: Sequence[Program]) -> str:
    """Returns `2, compiled in the first and second step`."""
    steps = dict.fromkeys(step for program in of_step_ for step in program.steps)
    return f"{len(of_step_)}, compiled in the {' and '.join(steps)} step"


def compilations(part: str, stack: StackPrograms) -> Line:
    """Returns how often each of three steps compiled: `1, 1, 0`."""
    told = ", ".join(units.UNKNOWN if count is None else str(count) for count in stack.compiles)
    quantity = "compilations in three steps, by the framework's count"
    return line(part, quantity, stack.stack, told or units.UNKNOWN)


def of_compiled(stack: str, compiled: Compiled | None, runs: Sequence[str]) -> Iterator[Line]:
    yield number(STEP, "compiled: operations", stack, compiled.kernels if compiled else None)
    for name in runs:
        yield number(STEP, f"compiled: of these, {name}", stack, compiled.runs.get(name, 0) if compiled else None)
    size = compiled.cost.bytes if compiled else None
    yield line(STEP, "compiled: bytes", stack, units.quantity(size), size=size)


def regions(stacks: Sequence[StackPrograms]) -> Iterator[Line]:
    """Yields how each kind of region was lowered; `not recognised` where only another stack's program has the kind."""
    recognised = {stack.stack: by_kind(contents_of(stack)) for stack in stacks}
    for kind in sorted({kind for of_stack in recognised.values() for kind in of_stack}):
        for stack, of_stack in recognised.items():
            told = forms(of_stack[kind]) if kind in of_stack else "not recognised"
            yield line(REGIONS, kind, stack, told, sum(count for count, _ in of_stack.get(kind, ())))


def generated(stacks: Sequence[StackPrograms]) -> Iterator[Line]:
    """Yields how often generated code calls each kernel, over all of its graphs."""
    called = [(stack, [program.kernels or {} for program in stack.programs]) for stack in stacks if stack.step.kernels]
    names = sorted({name for _, graphs in called for graph in graphs for name in graph})
    for stack, graphs in called:
        yield number(GENERATED, "graphs", stack.stack, len(graphs))
        yield number(GENERATED, "graph breaks", stack.stack, stack.graph_breaks)
        yield compilations(GENERATED, stack)
        for name in names:
            yield number(GENERATED, name, stack.stack, sum(graph.get(name, 0) for graph in graphs))
