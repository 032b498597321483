"""What differs between two stacks' programs of one step, in sentences, each with the counts that it rests on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from suite.ir.summary import Contents, Program
from suite.units import digits, quantity

MUCH = 0.01  # of a quantity, from which on a difference is told
MOST = 4  # operations that a difference is said to lie in
STEP_SHARE = 0.5  # of the largest program's operations, that another of a whole step has at least
WORK = ("fusion", "copy", "transpose", "convert", "custom-call", "dot", "convolution", "call", "while")


@dataclass(frozen=True, slots=True)
class Handed:
    """All programs that one stack hands over in three steps, and how often it compiled in each, by its own counter."""

    stack: str
    programs: tuple[Program, ...]
    compiles: tuple[int | None, ...] = ()
    graph_breaks: int | None = None

    @property
    def large(self) -> tuple[Program, ...]:
        """Those of a whole step, without what is compiled beside it."""
        most = max(size(program) for program in self.programs)
        return tuple(program for program in self.programs if size(program) >= STEP_SHARE * most)

    @property
    def step(self) -> Program:
        """The one that further steps run: of the large ones the last."""
        return self.large[-1]


@dataclass(frozen=True, slots=True)
class Finding:
    """One difference. `counts`: (what is counted, of the one, of the other)."""

    text: str
    counts: tuple[tuple[str, str, str], ...]


def size(program: Program) -> int:
    """Operations, of generated code the kernels that it calls."""
    return program.contents.size if program.contents else sum((program.kernels or {}).values())


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two that are compared, with what is in its step's program."""

    handed: Handed
    contents: Contents

    @property
    def stack(self) -> str:
        """Its stack's name."""
        return self.handed.stack


Told = Iterator[Finding]


def findings(a: Handed, b: Handed) -> list[Finding]:
    """Everything in which two stacks' programs of XLA differ. Raises ValueError for generated code."""
    if a.step.contents is None or b.step.contents is None:
        raise ValueError("generated code isn't compared with programs of XLA")
    sides = Side(a, a.step.contents), Side(b, b.step.contents)
    return [finding for compare in COMPARED for finding in compare(*sides)]


def unlike(a: Side, b: Side, quantity_of: Callable[[Side], float]) -> tuple[Side, Side] | None:
    """(who has more, who has less) of a quantity; None where they have as good as equally much."""
    less, more = sorted((a, b), key=quantity_of)
    return (more, less) if quantity_of(more) - quantity_of(less) > MUCH * quantity_of(more) else None


def counted(name: str, a: Side, b: Side, count_of: Callable[[Side], int]) -> tuple[str, str, str]:
    """One line of counts."""
    return name, f"{count_of(a):,}", f"{count_of(b):,}"


def sized(name: str, a: Side, b: Side, size_of: Callable[[Side], int]) -> tuple[str, str, str]:
    """The same of bytes."""
    return name, quantity(size_of(a)), quantity(size_of(b))


def many(count: int, noun: str) -> str:
    """So many of a thing."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def compilations(a: Side, b: Side) -> Told:
    """How many programs three steps take."""
    if pair := unlike(a, b, lambda side: len(side.handed.large)):
        more, fewer = pair
        steps = " and ".join(step for program in more.handed.large for step in program.steps)
        yield Finding(
            f"{more.stack} compiles {len(more.handed.large)} programs of a whole step, in its {steps}, "
            f"{fewer.stack} {len(fewer.handed.large)}.",
            (counted("programs", a, b, lambda side: len(side.handed.large)),),
        )


def kept(a: Side, b: Side) -> Told:
    """What stays alive beside the arguments."""
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


def in_place(a: Side, b: Side) -> Told:
    """What takes the place of arguments."""
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


def arguments(a: Side, b: Side) -> Told:
    """What the program is given."""
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


def regions(a: Side, b: Side) -> Told:
    """How the same thing was lowered, kind by kind; and what was recognised in one program alone."""
    one, other = by_kind(a.contents), by_kind(b.contents)
    for kind in sorted(one.keys() | other.keys()):
        if one.get(kind) != other.get(kind):
            told = "; ".join(f"{side.stack} {forms(found.get(kind))}" for side, found in ((a, one), (b, other)))
            yield Finding(
                f"{kind[0].upper() + kind[1:]}: {told}.", ((kind, total(one.get(kind)), total(other.get(kind))),)
            )


def ranks(a: Side, b: Side) -> Told:
    """Whether batch and sequence are one dimension when weights are multiplied."""
    one, other = a.contents.ranks, b.contents.ranks
    if one != other:
        counts = (
            (f"with {rank} dimensions", str(one.get(rank, 0)), str(other.get(rank, 0)))
            for rank in sorted(one.keys() | other.keys())
        )
        yield Finding(f"Products: {a.stack} has {ranks_words(one)}; {b.stack} has {ranks_words(other)}.", tuple(counts))


def operations(a: Side, b: Side) -> Told:
    """How large the programs are, and in which operations that lies."""
    if pair := unlike(a, b, lambda side: side.contents.size):
        more, fewer = (side.contents for side in pair)
        beyond = Counter(dict(more.operations))
        beyond.subtract(dict(fewer.operations))
        most = sorted(((name, n) for name, n in beyond.items() if n), key=lambda each: -abs(each[1]))[:MOST]
        lies = ", ".join(f"{name} {count:+,}" for name, count in most)
        yield Finding(
            f"{pair[0].stack} hands over {more.size:,} operations, {digits(more.size / fewer.size)} × "
            f"{pair[1].stack}'s {fewer.size:,}: {lies}.",
            (
                counted("operations", a, b, lambda side: side.contents.size),
                *(
                    (name, f"{a.contents.operations.get(name, 0):,}", f"{b.contents.operations.get(name, 0):,}")
                    for name, _ in most
                ),
            ),
        )


def work(a: Side, b: Side) -> Told:
    """XLA's own counts of what is to be computed."""
    if pair := unlike(a, b, lambda side: side.contents.cost.flops):
        most, least = (side.contents.cost.flops / 1e9 for side in pair)
        times = f", {digits(most / least)} × {pair[1].stack}'s" if least else f"; {pair[1].stack}'s computes none"
        yield Finding(
            f"By XLA's cost analysis {pair[0].stack}'s program computes {digits(most)} GFLOP{times}.",
            (("GFLOP", digits(a.contents.cost.flops / 1e9), digits(b.contents.cost.flops / 1e9)),),
        )


def compiled(a: Side, b: Side) -> Told:
    """What the same compiler makes of them."""
    one, other = a.handed.step.compiled, b.handed.step.compiled
    if one and other and abs(one.kernels - other.kernels) > MUCH * max(one.kernels, other.kernels):
        fewer, more = sorted(((one.kernels, a.stack), (other.kernels, b.stack)))
        shown = (name for name in WORK if one.runs.get(name) or other.runs.get(name))
        yield Finding(
            f"Compiled, a step of {more[1]}'s runs {more[0]:,} operations, {fewer[1]}'s {fewer[0]:,}.",
            (
                ("operations run", f"{one.kernels:,}", f"{other.kernels:,}"),
                *((name, f"{one.runs.get(name, 0):,}", f"{other.runs.get(name, 0):,}") for name in shown),
            ),
        )


COMPARED: tuple[Callable[[Side, Side], Told], ...] = (
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


def by_kind(found: Contents) -> dict[str, list[tuple[int, str]]]:
    """{kind of region: (how many, form)}."""
    kinds: dict[str, list[tuple[int, str]]] = {}
    for kind, form, count in found.regions:
        kinds.setdefault(kind, []).append((count, form))
    return kinds


def forms(found: Sequence[tuple[int, str]] | None) -> str:
    """`25 × batch_norm_training`."""
    return " and ".join(f"{count:,} × {form}" for count, form in found) if found else "has none that is recognised"


def total(found: Sequence[tuple[int, str]] | None) -> str:
    """How many in all."""
    return f"{sum(count for count, _ in found or ()):,}"


def ranks_words(found: Mapping[str, int]) -> str:
    """`48 of 2 and 24 of 4 dimensions`."""
    return " and ".join(f"{count:,} of {rank}" for rank, count in found.items()) + " dimensions" if found else "none"
