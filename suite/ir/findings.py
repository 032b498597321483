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


@dataclass(frozen=True, slots=True)
class ComparedStack:
    """One of the two stacks that are compared, with the contents of its step's program."""

    programs: StackPrograms
    contents: Contents

    @property
    def stack(self) -> str:
        return self.programs.stack


Findings = Iterator[Finding]


def findings(a: StackPrograms, b: StackPrograms) -> list[Finding]:
    """Returns every difference between the XLA programs of two stacks. Raises ValueError if one of them has Inductor's
    generated code instead."""
    if a.step.contents is None or b.step.contents is None:
        raise ValueError("generated code isn't compared with programs of XLA")
    first, second = ComparedStack(a, a.step.contents), ComparedStack(b, b.step.contents)
    return [finding for compare in COMPARISONS for finding in compare(first, second)]


def unlike(
    a: ComparedStack, b: ComparedStack, quantity_of: Callable[[ComparedStack], float]
) -> tuple[ComparedStack, ComparedStack] | None:
    """Returns (the stack with more of a quantity, the one with less); None if they differ by less than
    LEAST_DIFFERENCE."""
    less, more = sorted((a, b), key=quantity_of)
    return (more, less) if quantity_of(more) - quantity_of(less) > LEAST_DIFFERENCE * quantity_of(more) else None


def counted(
    name: str, a: ComparedStack, b: ComparedStack, count_of: Callable[[ComparedStack], int]
) -> tuple[str, str, str]:
    return name, f"{count_of(a):,}", f"{count_of(b):,}"


def sized(
    name: str, a: ComparedStack, b: ComparedStack, size_of: Callable[[ComparedStack], int]
) -> tuple[str, str, str]:
    return name, quantity(size_of(a)), quantity(size_of(b))


def many(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def compilations(a: ComparedStack, b: ComparedStack) -> Findings:
    if pair := unlike(a, b, lambda side: len(side.programs.large)):
        more, fewer = pair
        steps = " and ".join(step for program in more.programs.large for step in program.steps)
        yield Finding(
            f"{more.stack} compiles {len(more.programs.large)} programs of a whole step (in its {steps} step), "
            f"{fewer.stack} {len(fewer.programs.large)}.",
            (counted("programs", a, b, lambda side: len(side.programs.large)),),
        )


def kept(a: ComparedStack, b: ComparedStack) -> Findings:
    if pair := unlike(a, b, lambda side: side.contents.kept_bytes):
        more, fewer = pair
        beyond = quantity(more.contents.kept_bytes - fewer.contents.kept_bytes)
        yield Finding(
            f"{more.stack} keeps {many(more.contents.kept, 'result')} alive beside the arguments, {beyond} more "
            f"than {fewer.stack} with its {fewer.contents.kept:,}.",
            (
                counted("results kept", a, b, lambda side: side.contents.kept),
                sized("their size", a, b, lambda side: side.contents.kept_bytes),
            ),
        )


def in_place(a: ComparedStack, b: ComparedStack) -> Findings:
    if pair := unlike(a, b, lambda side: side.contents.aliased_bytes):
        more, fewer = pair
        yield Finding(
            f"{more.stack} lets {many(more.contents.aliased, 'result')} take the place of arguments "
            f"({quantity(more.contents.aliased_bytes)}), {fewer.stack} {fewer.contents.aliased:,} "
            f"({quantity(fewer.contents.aliased_bytes)}).",
            (
                counted("results in place", a, b, lambda side: side.contents.aliased),
                sized("their size", a, b, lambda side: side.contents.aliased_bytes),
            ),
        )


def arguments(a: ComparedStack, b: ComparedStack) -> Findings:
    if a.contents.arguments != b.contents.arguments:
        yield Finding(
            f"{a.stack}'s program takes {many(a.contents.arguments, 'argument')} of "
            f"{quantity(a.contents.argument_bytes)}, {b.stack}'s {b.contents.arguments:,} of "
            f"{quantity(b.contents.argument_bytes)}.",
            (
                counted("arguments", a, b, lambda side: side.contents.arguments),
                sized("their size", a, b, lambda side: side.contents.argument_bytes),
            ),
        )


def regions(a: ComparedStack, b: ComparedStack) -> Findings:
    """Compares for each kind of region the forms that the two programs have. A kind that only one program has is a
    difference too."""
    kinds_a, kinds_b = by_kind(a.contents), by_kind(b.contents)
    for kind in sorted(kinds_a.keys() | kinds_b.keys()):
        if kinds_a.get(kind) != kinds_b.get(kind):
            words = "; ".join(f"{side.stack} {forms(kinds.get(kind))}" for side, kinds in ((a, kinds_a), (b, kinds_b)))
            yield Finding(
                f"{kind[0].upper() + kind[1:]}: {words}.", ((kind, total(kinds_a.get(kind)), total(kinds_b.get(kind))),)
            )


def ranks(a: ComparedStack, b: ComparedStack) -> Findings:
    """Compares how many dimensions the first operands of products have. This shows whether batch and sequence were
    joined into one dimension."""
    ranks_a, ranks_b = a.contents.ranks, b.contents.ranks
    if ranks_a != ranks_b:
        counts = (
            (f"with {rank} dimensions", str(ranks_a.get(rank, 0)), str(ranks_b.get(rank, 0)))
            for rank in sorted(ranks_a.keys() | ranks_b.keys())
        )
        words = f"{a.stack} has {ranks_words(ranks_a)}; {b.stack} has {ranks_words(ranks_b)}"
        yield Finding(f"Products: {words}.", tuple(counts))


def operations(a: ComparedStack, b: ComparedStack) -> Findings:
    """Compares the numbers of operations, and lists the operations in which the programs differ most."""
    if pair := unlike(a, b, lambda side: side.contents.size):
        more, fewer = (side.contents for side in pair)
        beyond = Counter(dict(more.operations))
        beyond.subtract(dict(fewer.operations))
        unequal = [(name, count) for name, count in beyond.items() if count]
        most = sorted(unequal, key=lambda name_and_count: -abs(name_and_count[1]))[:OPERATIONS_SHOWN]
        differences = ", ".join(f"{name} {count:+,}" for name, count in most)
        yield Finding(
            f"{pair[0].stack} hands over {more.size:,} operations, {digits(more.size / fewer.size)} × "
            f"{pair[1].stack}'s {fewer.size:,}: {differences}.",
            (
                counted("operations", a, b, lambda side: side.contents.size),
                *(
                    (name, f"{a.contents.operations.get(name, 0):,}", f"{b.contents.operations.get(name, 0):,}")
                    for name, _ in most
                ),
            ),
        )


def work(a: ComparedStack, b: ComparedStack) -> Findings:
    if pair := unlike(a, b, lambda side: side.contents.cost.flops):
        most, least = (side.contents.cost.flops / 1e9 for side in pair)
        times = f", {digits(most / least)} × {pair[1].stack}'s" if least else f"; {pair[1].stack}'s computes none"
        yield Finding(
            f"By XLA's cost analysis {pair[0].stack}'s program computes {digits(most)} GFLOP{times}.",
            (("GFLOP", digits(a.contents.cost.flops / 1e9), digits(b.contents.cost.flops / 1e9)),),
        )


def compiled(a: ComparedStack, b: ComparedStack) -> Findings:
    """Compares the optimized programs that XLA's compiler made of both."""
    one, other = a.programs.step.compiled, b.programs.step.compiled
    if one and other and abs(one.kernels - other.kernels) > LEAST_DIFFERENCE * max(one.kernels, other.kernels):
        fewer, more = sorted(((one.kernels, a.stack), (other.kernels, b.stack)))
        shown = (name for name in WORK if one.runs.get(name) or other.runs.get(name))
        yield Finding(
            f"Compiled, a step of {more[1]}'s runs {more[0]:,} operations, {fewer[1]}'s {fewer[0]:,}.",
            (
                ("operations run", f"{one.kernels:,}", f"{other.kernels:,}"),
                *((name, f"{one.runs.get(name, 0):,}", f"{other.runs.get(name, 0):,}") for name in shown),
            ),
        )


COMPARISONS: tuple[Callable[[ComparedStack, ComparedStack], Findings], ...] = (
    compilations,
    kept,
    in_place,
    arguments,
    regions,
    ranks,
    operations,
    work,
    compiled,
)


def by_kind(contents: Contents) -> dict[str, list[tuple[int, str]]]:
    kinds: dict[str, list[tuple[int, str]]] = {}
    for kind, form, count in contents.regions:
        kinds.setdefault(kind, []).append((count, form))
    return kinds


def forms(regions: Sequence[tuple[int, str]] | None) -> str:
    return " and ".join(f"{count:,} × {form}" for count, form in regions) if regions else "has none that is recognised"


def total(regions: Sequence[tuple[int, str]] | None) -> str:
    return f"{sum(count for count, _ in regions or ()):,}"


def ranks_words(ranks: Mapping[str, int]) -> str:
    """Returns counts of products by their number of dimensions, in words: `48 of 2 and 24 of 4 dimensions`."""
    return " and ".join(f"{count:,} of {rank}" for rank, count in ranks.items()) + " dimensions" if ranks else "none"
