"""What stacks hand to their compilers, as the page shows it: counts side by side, regions, and what differs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from suite import units
from suite.ir.findings import WORK, Finding, Handed, by_kind, findings, forms, ranks_words
from suite.ir.summary import Contents, Program
from suite.report.sections.comparison import link_target, subtitle
from suite.results.questions.programs import ProgramQuestion

OPERATIONS_MAX = 30  # lines of the histogram: those that any program has most of


@dataclass(frozen=True, slots=True)
class Table:
    """A line for each thing that is counted, a column for each stack."""

    stacks: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True)
class Pair:
    """What differs between two stacks."""

    title: str
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class ProgramSection:
    """One question, and in one sentence how far the programs are apart."""

    name: str
    anchor: str
    answer: str
    subtitle: str
    counts: Table
    regions: Table
    operations: Table
    generated: Table
    pairs: tuple[Pair, ...]
    without: tuple[tuple[str, str], ...]
    told_by: tuple[tuple[str, str], ...]


def answer(stacks: Sequence[Handed]) -> str:
    """Operations handed over and, compiled, run; empty where nothing of XLA's was read."""
    handed = sorted((each.step.contents.size, each.stack) for each in stacks if each.step.contents)
    run = sorted((each.step.compiled.kernels, each.stack) for each in stacks if each.step.compiled)
    told = [
        f"{words}: {spread(each)}"
        for words, each in (("Operations handed to the compiler", handed), ("run, once compiled", run))
        if each
    ]
    return f"{'; '.join(told)}." if told else ""


def spread(counts: Sequence[tuple[int, str]]) -> str:
    """Of sorted counts with their stacks, the least and the greatest."""
    (least, first), (greatest, last) = counts[0], counts[-1]
    return f"{least:,} ({first}) to {greatest:,} ({last})" if least < greatest else f"{least:,}"


def program_section(question: ProgramQuestion) -> ProgramSection:
    """The section of a question."""
    of_xla = [each for each in question.stacks if each.step.contents]
    return ProgramSection(
        name=question.name,
        anchor=link_target("p", question.name, question.id),
        answer=answer(of_xla),
        subtitle=subtitle(question.head),
        counts=counts(of_xla),
        regions=regions(of_xla),
        operations=operations(of_xla),
        generated=generated([each for each in question.stacks if each.step.kernels]),
        pairs=tuple(pair(a, b) for a, b in combinations(of_xla, 2)),
        without=question.without,
        told_by=tuple((each.stack, each.step.told_by) for each in of_xla),
    )


def both(a: Handed, b: Handed) -> tuple[tuple[str, Table], ...]:
    """Two programs of XLA's side by side."""
    stacks = (a, b)
    return (
        ("The step's program", counts(stacks)),
        ("How regions were lowered", regions(stacks)),
        ("Operations", operations(stacks)),
    )


def pair(a: Handed, b: Handed) -> Pair:
    """What differs between two stacks' programs."""
    return Pair(f"{a.stack} and {b.stack}", tuple(findings(a, b)))


def counts(stacks: Sequence[Handed]) -> Table:
    """What the step's program takes and gives, and what its compiler makes of it."""
    rows = [
        ("programs of a whole step, compiled in its", [steps_words(each.large) for each in stacks]),
        ("compiles in three steps, by its own counter", list(map(compiles_words, stacks))),
        ("operations", [f"{of(each).size:,}" for each in stacks]),
        ("arguments", [sized(of(each).arguments, of(each).argument_bytes) for each in stacks]),
        ("results in place of arguments", [sized(of(each).aliased, of(each).aliased_bytes) for each in stacks]),
        ("results kept beside them", [sized(of(each).kept, of(each).kept_bytes) for each in stacks]),
        ("products, by the dimensions of their first operand", [ranks_words(of(each).ranks) for each in stacks]),
        ("GFLOP by XLA's cost analysis", [units.digits(of(each).cost.flops / 1e9) for each in stacks]),
        ("bytes by it, nothing fused", [units.quantity(of(each).cost.bytes) for each in stacks]),
    ]
    done = [each.step.compiled for each in stacks]
    if any(done):
        rows += [
            ("compiled: operations that it runs", [f"{each.kernels:,}" if each else units.UNKNOWN for each in done]),
            *(
                (f"of them {name}", [f"{each.runs.get(name, 0):,}" if each else units.UNKNOWN for each in done])
                for name in WORK
                if any(each and each.runs.get(name) for each in done)
            ),
            ("compiled: bytes", [units.quantity(each.cost.bytes) if each else units.UNKNOWN for each in done]),
        ]
    return table(stacks, rows)


def compiles_words(handed: Handed) -> str:
    """`1, 1, 0`."""
    return ", ".join(units.UNKNOWN if count is None else str(count) for count in handed.compiles) or units.UNKNOWN


def of(handed: Handed) -> Contents:
    """What is in the step's program."""
    assert handed.step.contents is not None
    return handed.step.contents


def sized(count: int, size: int) -> str:
    """`444, 1.39 GiB`."""
    return f"{count:,}, {units.quantity(size)}" if count else "none"


def steps_words(programs: Sequence[Program]) -> str:
    """`2: first, second`."""
    return f"{len(programs)}: {', '.join(step for program in programs for step in program.steps)}"


def regions(stacks: Sequence[Handed]) -> Table:
    """How each kind of region was lowered; a kind that another stack's program has is said to be missing."""
    found = [by_kind(of(each)) for each in stacks]
    kinds = sorted({kind for each in found for kind in each})
    return table(
        stacks, [(kind, [forms(each[kind]) if kind in each else "not recognised" for each in found]) for kind in kinds]
    )


def operations(stacks: Sequence[Handed]) -> Table:
    """The histogram."""
    most: dict[str, int] = {}
    for each in stacks:
        for name, count in of(each).operations.items():
            most[name] = max(most.get(name, 0), count)
    names = sorted(most, key=lambda name: -most[name])[:OPERATIONS_MAX]
    return table(stacks, [(name, [f"{of(each).operations.get(name, 0):,}" for each in stacks]) for name in names])


def generated(stacks: Sequence[Handed]) -> Table:
    """The kernels that generated code calls, over all of its graphs."""
    called = [[program.kernels or {} for program in each.programs] for each in stacks]
    names = sorted({name for graphs in called for graph in graphs for name in graph})
    breaks = [units.UNKNOWN if each.graph_breaks is None else str(each.graph_breaks) for each in stacks]
    rows = [
        ("graphs", [f"{len(graphs):,}" for graphs in called]),
        ("graph breaks", breaks),
        ("compiles in three steps, by its own counter", list(map(compiles_words, stacks))),
    ]
    rows += [(name, [f"{sum(graph.get(name, 0) for graph in graphs):,}" for graphs in called]) for name in names]
    return table(stacks, rows)


def table(stacks: Sequence[Handed], rows: Sequence[tuple[str, Sequence[str]]]) -> Table:
    """A column for each stack."""
    return Table(tuple(each.stack for each in stacks), tuple((name, tuple(cells)) for name, cells in rows))
