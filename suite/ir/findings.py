"""Finds the differences between the programs that two stacks hand over for the same step. Each is a sentence with the
counts behind it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from suite.ir.summary import Contents, Program
from suite.units import digits, quantity

LEAST_DIFFERENCE = 0.01  # a difference that is a smaller share of the larger quantity isn't a finding
OPERATIONS_SHOWN = 4  # the operations in which two programs differ most
STEP_SHARE = 0.5  # a program is of a whole step if it has at least this share of the largest program's operations
# The operations of a compiled program that are shown one by one.
WORK = ("fusion", "copy", "transpose", "convert", "custom-call", "dot", "convolution", "call", "while")


@dataclass(frozen=True, slots=True)
class StackPrograms:
    """The programs that one stack hands to its compiler in three steps. `compiles` is how often the stack compiled in
    each step, by its own count."""

    stack: str
    programs: tuple[Program, ...]
    compiles: tuple[int | None, ...] = ()
    graph_breaks: int | None = None

    @property
    def large(self) -> tuple[Program, ...]:
        """Returns the programs of a whole step, without the small programs that are compiled beside them."""
        largest = max(size(program) for program in self.programs)
        return tuple(program for program in self.programs if size(program) >= STEP_SHARE * largest)

    @property
    def step(self) -> Program:
        """Returns the program that all later steps run: the last of the large ones."""
        return self.large[-1]

    @property
    def contents(self) -> Contents:
        """The contents of the step's program, which must be one that XLA compiles."""
        assert self.step.contents is not None
        return self.step.contents

    @property
    def unread(self) -> str:
        """Returns why compiled programs couldn't be read, as a clause; empty if all could."""
        reasons = dict.fromkeys(program.unread for program in self.programs if program.unread)
        return f"what its compiler made of it couldn't be read: {'; '.join(reasons)}" if reasons else ""


@dataclass(frozen=True, slots=True)
class Finding:
    """One difference between two programs, as a sentence; `counts` is (what is counted, count in the first program,
    count in the second)."""

    text: str
    counts: tuple[tuple[str, str, str], ...]


def size(program: Program) -> int:
    """Returns a program's number of operations; for generated code, its number of calls of kernels."""
    return program.contents.size if program.contents else sum((program.kernels or {}).values())


Findings = Iterator[Finding]


def findings(a: StackPrograms, b: StackPrograms) -> list[Finding]:
    """Returns every difference between the XLA programs of two stacks. Raises ValueError if one of them has Inductor's
    generated code instead."""
    if a.step.contents is None or b.step.contents is None:
        raise ValueError("generated code isn't compared with programs of XLA")
    return [finding for compare in COMPARISONS for finding in compare(a, b)]


def unlike(
    a: StackPrograms, b: StackPrograms, quantity_of: Callable[[StackPrograms], float]
) -> tuple[StackPrograms, StackPrograms] | None:
    """Returns (the stack with more of a quantity, the one with less); None if they differ by less than
    LEAST_DIFFERENCE."""
    less, more = sorted((a, b), key=quantity_of)
    return (more, less) if quantity_of(more) - quantity_of(less) > LEAST_DIFFERENCE * quantity_of(more) else None


def counted(name: str, *counts: int) -> tuple[str, str, str]:
    first, second = (f"{count:,}" for count in counts)
    return name, first, second


def sized(name: str, *sizes: int) -> tuple[str, str, str]:
    first, second = map(quantity, sizes)
    return name, first, second


def many(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def compilations(a: StackPrograms, b: StackPrograms) -> Findings:
    if pair := unlike(a, b, lambda side: len(side.large)):
        more, fewer = pair
        steps = " and ".join(step for program in more.large for step in program.steps)
        yield Finding(
            f"{more.stack} compiles {len(more.large)} programs of a whole step (in its {steps} step), "
            f"{fewer.stack} {len(fewer.large)}.",
            (counted("programs", len(a.large), len(b.large)),),
        )


def kept(a: StackPrograms, b: StackPrograms) -> Findings:
    if pair := unlike(a, b, lambda side: side.contents.kept_bytes):
        more, fewer = (side.contents for side in pair)
        yield Finding(
            f"{pair[0].stack} keeps {many(more.kept, 'result')} alive beside the arguments, "
            f"{quantity(more.kept_bytes - fewer.kept_bytes)} more than {pair[1].stack} with its {fewer.kept:,}.",
            (
                counted("results kept", a.contents.kept, b.contents.kept),
                sized("their size", a.contents.kept_bytes, b.contents.kept_bytes),
            ),
        )


def in_place(a: StackPrograms, b: StackPrograms) -> Findings:
    if pair := unlike(a, b, lambda side: side.contents.aliased_bytes):
        more, fewer = (side.contents for side in pair)
        yield Finding(
            f"{pair[0].stack} lets {many(more.aliased, 'result')} take the place of arguments "
            f"({quantity(more.aliased_bytes)}), {pair[1].stack} {fewer.aliased:,} ({quantity(fewer.aliased_bytes)}).",
            (
                counted("results in place", a.contents.aliased, b.contents.aliased),
                sized("their size", a.contents.aliased_bytes, b.contents.aliased_bytes),
            ),
        )


def arguments(a: StackPrograms, b: StackPrograms) -> Findings:
    first, second = a.contents, b.contents
    if first.arguments != second.arguments:
        yield Finding(
            f"{a.stack}'s program takes {many(first.arguments, 'argument')} of {quantity(first.argument_bytes)}, "
            f"{b.stack}'s {second.arguments:,} of {quantity(second.argument_bytes)}.",
            (
                counted("arguments", first.arguments, second.arguments),
                sized("their size", first.argument_bytes, second.argument_bytes),
            ),
        )


def regions(a: StackPrograms, b: StackPrograms) -> Findings:
    """Compares for each kind of region the forms that the two programs have. A kind that only one program has is a
    difference too."""
    kinds_a, kinds_b = by_kind(a.contents), by_kind(b.contents)
    for kind in sorted(kinds_a.keys() | kinds_b.keys()):
        of_a, of_b = kinds_a.get(kind, []), kinds_b.get(kind, [])
        if of_a != of_b:
            yield Finding(
                f"{kind[0].upper() + kind[1:]}: {a.stack} {forms(of_a)}; {b.stack} {forms(of_b)}.",
                (counted(kind, total(of_a), total(of_b)),),
            )


def ranks(a: StackPrograms, b: StackPrograms) -> Findings:
    """Compares how many dimensions the first operands of products have. This shows whether batch and sequence were
    joined into one dimension."""
    ranks_a, ranks_b = a.contents.ranks, b.contents.ranks
    if ranks_a != ranks_b:
        yield Finding(
            f"Products: {a.stack} has {ranks_words(ranks_a)}; {b.stack} has {ranks_words(ranks_b)}.",
            tuple(
                (f"with {rank} dimensions", str(ranks_a.get(rank, 0)), str(ranks_b.get(rank, 0)))
                for rank in sorted(ranks_a.keys() | ranks_b.keys())
            ),
        )


def operations(a: StackPrograms, b: StackPrograms) -> Findings:
    """Compares the numbers of operations, and lists the operations in which the programs differ most."""
    if pair := unlike(a, b, lambda side: side.contents.size):
        more, fewer = (side.contents for side in pair)
        beyond = Counter(dict(more.operations))
        beyond.subtract(dict(fewer.operations))
        unequal = [(name, count) for name, count in beyond.items() if count]
        most = sorted(unequal, key=lambda name_and_count: -abs(name_and_count[1]))[:OPERATIONS_SHOWN]
        differences = ", ".join(f"{name} {count:+,}" for name, count in most)
        first, second = a.contents, b.contents
        yield Finding(
            f"{pair[0].stack} hands over {more.size:,} operations, {digits(more.size / fewer.size)} × "
            f"{pair[1].stack}'s {fewer.size:,}: {differences}.",
            (
                counted("operations", first.size, second.size),
                *(counted(name, first.operations.get(name, 0), second.operations.get(name, 0)) for name, _ in most),
            ),
        )


def work(a: StackPrograms, b: StackPrograms) -> Findings:
    if pair := unlike(a, b, lambda side: side.contents.cost.flops):
        most, least = (side.contents.cost.flops / 1e9 for side in pair)
        times = f", {digits(most / least)} × {pair[1].stack}'s" if least else f"; {pair[1].stack}'s computes none"
        yield Finding(
            f"By XLA's cost analysis {pair[0].stack}'s program computes {digits(most)} GFLOP{times}.",
            (("GFLOP", digits(a.contents.cost.flops / 1e9), digits(b.contents.cost.flops / 1e9)),),
        )


def compiled(a: StackPrograms, b: StackPrograms) -> Findings:
    one, other = a.step.compiled, b.step.compiled
    if one and other and abs(one.kernels - other.kernels) > LEAST_DIFFERENCE * max(one.kernels, other.kernels):
        fewer, more = sorted(((one.kernels, a.stack), (other.kernels, b.stack)))
        shown = (name for name in WORK if one.runs.get(name) or other.runs.get(name))
        yield Finding(
            f"Compiled, a step of {more[1]}'s runs {more[0]:,} operations, {fewer[1]}'s {fewer[0]:,}.",
            (
                counted("operations run", one.kernels, other.kernels),
                *(counted(name, one.runs.get(name, 0), other.runs.get(name, 0)) for name in shown),
            ),
        )


COMPARISONS = (compilations, kept, in_place, arguments, regions, ranks, operations, work, compiled)


def by_kind(contents: Contents) -> dict[str, list[tuple[int, str]]]:
    kinds: dict[str, list[tuple[int, str]]] = {}
    for kind, form, count in contents.regions:
        kinds.setdefault(kind, []).append((count, form))
    return kinds


def forms(regions: Sequence[tuple[int, str]]) -> str:
    return " and ".join(f"{count:,} × {form}" for count, form in regions) or "has none that is recognised"


def total(regions: Sequence[tuple[int, str]]) -> int:
    return sum(count for count, _ in regions)


def ranks_words(ranks: Mapping[str, int]) -> str:
    """Returns counts of products by their number of dimensions, in words: `48 of 2 and 24 of 4 dimensions`."""
    return " and ".join(f"{count:,} of {rank}" for rank, count in ranks.items()) + " dimensions" if ranks else "none"
