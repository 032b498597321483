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


def findings(a: Handed, b: Handed) -> list[Finding]:
    """Everything in which two stacks' programs of XLA differ. Raises ValueError for generated code."""
    if a.step.contents is None or b.step.contents is None:
        raise ValueError("generated code isn't compared with programs of XLA")
    return [finding for compare in COMPARED for finding in compare(a, b, a.step.contents, b.step.contents)]


Told = Iterator[Finding]


def compilations(a: Handed, b: Handed, of_a: Contents, of_b: Contents) -> Told:
    """How many programs three steps take."""
    if len(a.large) != len(b.large):
        fewer, more = sorted((a, b), key=lambda each: len(each.large))
        steps = " and ".join(step for program in more.large for step in program.steps)
        counts = ("programs", str(len(a.large)), str(len(b.large)))
        yield Finding(f"{more.stack} compiles {len(more.large)} programs of a whole step, in its {steps}, "
                      f"{fewer.stack} {len(fewer.large)}.", (counts,))  # fmt: skip


def kept(a: Handed, b: Handed, of_a: Contents, of_b: Contents) -> Told:
    """What stays alive beside the arguments."""
    if differ(of_a.kept_bytes, of_b.kept_bytes):
        more, fewer = sorted(((a, of_a), (b, of_b)), key=lambda each: -each[1].kept_bytes)
        yield Finding(
            f"{more[0].stack} keeps {more[1].kept:,} results alive that take no argument's place, "
            f"{quantity(more[1].kept_bytes - fewer[1].kept_bytes)} more than {fewer[0].stack} with its "
            f"{fewer[1].kept:,}.",
            (("results kept", f"{of_a.kept:,}", f"{of_b.kept:,}"),
             ("their size", quantity(of_a.kept_bytes), quantity(of_b.kept_bytes))))  # fmt: skip


def in_place(a: Handed, b: Handed, of_a: Contents, of_b: Contents) -> Told:
    """What takes the place of arguments."""
    if differ(of_a.aliased_bytes, of_b.aliased_bytes):
        more, fewer = sorted(((a, of_a), (b, of_b)), key=lambda each: -each[1].aliased_bytes)
        yield Finding(
            f"{more[0].stack} lets {more[1].aliased:,} results take the place of arguments "
            f"({quantity(more[1].aliased_bytes)}), {fewer[0].stack} {fewer[1].aliased:,} "
            f"({quantity(fewer[1].aliased_bytes)}).",
            (("results in place", f"{of_a.aliased:,}", f"{of_b.aliased:,}"),
             ("their size", quantity(of_a.aliased_bytes), quantity(of_b.aliased_bytes))))  # fmt: skip


def arguments(a: Handed, b: Handed, of_a: Contents, of_b: Contents) -> Told:
    """What the program is given."""
    if of_a.arguments != of_b.arguments:
        yield Finding(
            f"{a.stack}'s program takes {of_a.arguments:,} arguments of {quantity(of_a.argument_bytes)}, {b.stack}'s "
            f"{of_b.arguments:,} of {quantity(of_b.argument_bytes)}.",
            (("arguments", f"{of_a.arguments:,}", f"{of_b.arguments:,}"),
             ("their size", quantity(of_a.argument_bytes), quantity(of_b.argument_bytes))))  # fmt: skip


def regions(a: Handed, b: Handed, of_a: Contents, of_b: Contents) -> Told:
    """How the same thing was lowered, kind by kind; and what was recognised in one program alone."""
    one, other = by_kind(of_a), by_kind(of_b)
    for kind in sorted(one.keys() | other.keys()):
        if one.get(kind) != other.get(kind):
            told = [f"{each.stack} {forms(found.get(kind))}" for each, found in ((a, one), (b, other))]
            yield Finding(f"{kind[0].upper() + kind[1:]}: {'; '.join(told)}.",
                          ((kind, total(one.get(kind)), total(other.get(kind))),))  # fmt: skip


def ranks(a: Handed, b: Handed, of_a: Contents, of_b: Contents) -> Told:
    """Whether batch and sequence are one dimension when weights are multiplied."""
    if of_a.ranks != of_b.ranks:
        told = [f"{each.stack} has {ranks_words(found.ranks)}" for each, found in ((a, of_a), (b, of_b))]
        every = sorted(of_a.ranks.keys() | of_b.ranks.keys())
        yield Finding(f"Products: {'; '.join(told)}.", tuple(
            (f"with {rank} dimensions", str(of_a.ranks.get(rank, 0)), str(of_b.ranks.get(rank, 0))) for rank in every
        ))  # fmt: skip


def operations(a: Handed, b: Handed, of_a: Contents, of_b: Contents) -> Told:
    """How large the programs are, and in which operations that lies."""
    if differ(of_a.size, of_b.size):
        more, fewer = sorted(((a, of_a), (b, of_b)), key=lambda each: -each[1].size)
        beyond = Counter(dict(more[1].operations))
        beyond.subtract(dict(fewer[1].operations))
        most = sorted(((name, n) for name, n in beyond.items() if n), key=lambda each: -abs(each[1]))[:MOST]
        lies = ", ".join(f"{name} {count:+,}" for name, count in most)
        yield Finding(
            f"{more[0].stack} hands over {more[1].size:,} operations, {digits(more[1].size / fewer[1].size)} × "
            f"{fewer[0].stack}'s {fewer[1].size:,}: {lies}.",
            (("operations", f"{of_a.size:,}", f"{of_b.size:,}"),
             *((name, f"{of_a.operations.get(name, 0):,}", f"{of_b.operations.get(name, 0):,}")
               for name, _ in most)))  # fmt: skip


def work(a: Handed, b: Handed, of_a: Contents, of_b: Contents) -> Told:
    """XLA's own counts of what is to be computed."""
    if differ(of_a.cost.flops, of_b.cost.flops):
        more, fewer = sorted(((a, of_a), (b, of_b)), key=lambda each: -each[1].cost.flops)
        yield Finding(
            f"By XLA's cost analysis {more[0].stack}'s program computes {digits(more[1].cost.flops / 1e9)} GFLOP, "
            f"{digits(more[1].cost.flops / max(1.0, fewer[1].cost.flops))} × {fewer[0].stack}'s.",
            (("GFLOP", digits(of_a.cost.flops / 1e9), digits(of_b.cost.flops / 1e9)),))  # fmt: skip


def compiled(a: Handed, b: Handed, of_a: Contents, of_b: Contents) -> Told:
    """What the same compiler makes of them."""
    one, other = a.step.compiled, b.step.compiled
    if one and other and differ(one.kernels, other.kernels):
        more, fewer = sorted(((a, one), (b, other)), key=lambda each: -each[1].kernels)
        shown = [name for name in WORK if one.runs.get(name) or other.runs.get(name)]
        yield Finding(
            f"Compiled, a step of {more[0].stack}'s runs {more[1].kernels:,} operations, {fewer[0].stack}'s "
            f"{fewer[1].kernels:,}.",
            (("operations run", f"{one.kernels:,}", f"{other.kernels:,}"),
             *((name, f"{one.runs.get(name, 0):,}", f"{other.runs.get(name, 0):,}") for name in shown)))  # fmt: skip


COMPARED: tuple[Callable[[Handed, Handed, Contents, Contents], Told], ...] = (
    compilations, kept, in_place, arguments, regions, ranks, operations, work, compiled)  # fmt: skip


def differ(a: float, b: float) -> bool:
    """Whether two quantities are so far apart that it is told."""
    return abs(a - b) > MUCH * max(a, b)


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
