"""Tables of counts in the stacks' programs, with a line for each quantity and a column for each stack."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from suite import units
from suite.ir.findings import WORK, StackPrograms, by_kind, forms, ranks_words
from suite.ir.summary import Contents, Program

OPERATIONS_MAX = 30  # lines of the histogram, which begins with the most frequent operation of any program


@dataclass(frozen=True, slots=True)
class Counts:
    """A table of counts: `rows` are (quantity, a cell for each stack)."""

    stacks: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]


def side_by_side(first: StackPrograms, second: StackPrograms) -> tuple[tuple[str, Counts], ...]:
    """Returns the tables, each as (title, table), of two stacks whose programs XLA compiles."""
    stacks = (first, second)
    return (
        ("The step's program", step_counts(stacks)),
        ("How regions were lowered", regions(stacks)),
        ("Operations", operations(stacks)),
    )


def step_counts(stacks: Sequence[StackPrograms]) -> Counts:
    """Returns the counts of the step's program: its arguments, results and operations, before and after compiling."""
    contents = list(map(contents_of, stacks))
    rows = [
        ("programs of a whole step", [steps_words(stack.large) for stack in stacks]),
        ("compilations in three steps, by the framework's count", list(map(compilations_words, stacks))),
        ("operations", [f"{program.size:,}" for program in contents]),
        ("arguments", [sized(program.arguments, program.argument_bytes) for program in contents]),
        (
            "results that reuse an argument's memory",
            [sized(program.aliased, program.aliased_bytes) for program in contents],
        ),
        ("results with newly allocated memory", [sized(program.kept, program.kept_bytes) for program in contents]),
        ("products, by the dimensions of their first operand", [ranks_words(program.ranks) for program in contents]),
        ("GFLOP by XLA's cost analysis", [units.digits(program.cost.flops / 1e9) for program in contents]),
        ("bytes by XLA's cost analysis, nothing fused", [units.quantity(program.cost.bytes) for program in contents]),
    ]
    compiled = [stack.step.compiled for stack in stacks]
    if any(compiled):
        rows.append(
            ("compiled: operations", [f"{program.kernels:,}" if program else units.UNKNOWN for program in compiled])
        )
        rows += [
            (
                f"compiled: of these, {name}",
                [f"{program.runs.get(name, 0):,}" if program else units.UNKNOWN for program in compiled],
            )
            for name in WORK
            if any(program and program.runs.get(name) for program in compiled)
        ]
        rows.append(
            (
                "compiled: bytes",
                [units.quantity(program.cost.bytes) if program else units.UNKNOWN for program in compiled],
            )
        )
    return table(stacks, rows)


def compilations_words(stack: StackPrograms) -> str:
    """Returns how often each of three steps compiled: `1, 1, 0`."""
    return ", ".join(units.UNKNOWN if count is None else str(count) for count in stack.compiles) or units.UNKNOWN


def contents_of(stack: StackPrograms) -> Contents:
    """Returns the contents of the step's program, which must be one that XLA compiles."""
    assert stack.step.contents is not None
    return stack.step.contents


def sized(count: int, size: int) -> str:
    """Returns a count with its bytes: `444, 1.39 GiB`."""
    return f"{count:,}, {units.quantity(size)}" if count else "none"


def steps_words(programs: Sequence[Program]) -> str:
    """Returns `2, compiled in the first and second step`."""
    steps = dict.fromkeys(step for program in programs for step in program.steps)
    return f"{len(programs)}, compiled in the {' and '.join(steps)} step"


def regions(stacks: Sequence[StackPrograms]) -> Counts:
    """Returns how each kind of region was lowered; `not recognised` where only another stack's program has the kind."""
    recognised = [by_kind(contents_of(stack)) for stack in stacks]
    kinds = sorted({kind for of_stack in recognised for kind in of_stack})
    return table(
        stacks,
        [
            (kind, [forms(of_stack[kind]) if kind in of_stack else "not recognised" for of_stack in recognised])
            for kind in kinds
        ],
    )


def operations(stacks: Sequence[StackPrograms]) -> Counts:
    """Returns how many operations of each kind the step's program has."""
    histograms = [contents_of(stack).operations for stack in stacks]
    most: dict[str, int] = {}
    for histogram in histograms:
        for name, count in histogram.items():
            most[name] = max(most.get(name, 0), count)
    names = sorted(most, key=lambda name: -most[name])[:OPERATIONS_MAX]
    return table(stacks, [(name, [f"{histogram.get(name, 0):,}" for histogram in histograms]) for name in names])


def generated(stacks: Sequence[StackPrograms]) -> Counts:
    """Returns how often generated code calls each kernel, over all of its graphs."""
    called = [[program.kernels or {} for program in stack.programs] for stack in stacks]
    names = sorted({name for graphs in called for graph in graphs for name in graph})
    breaks = [units.UNKNOWN if stack.graph_breaks is None else str(stack.graph_breaks) for stack in stacks]
    rows = [
        ("graphs", [f"{len(graphs):,}" for graphs in called]),
        ("graph breaks", breaks),
        ("compilations in three steps, by the framework's count", list(map(compilations_words, stacks))),
    ]
    rows += [(name, [f"{sum(graph.get(name, 0) for graph in graphs):,}" for graphs in called]) for name in names]
    return table(stacks, rows)


def table(stacks: Sequence[StackPrograms], rows: Sequence[tuple[str, Sequence[str]]]) -> Counts:
    """Returns a table with a column for each stack."""
    return Counts(tuple(stack.stack for stack in stacks), tuple((name, tuple(cells)) for name, cells in rows))
