"""One set that asked the same in two ways: cold beside warm cache, forward beside train. They share blocks, so they are
paired as stacks are. Pure functions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from suite.protocol import Protocol
from suite.results.questions.names import question_names
from suite.results.speedup.pairing import Side, Timings, block_timings
from suite.results.speedup.verdicts import Pairing, Speedup
from suite.results.store.rows import Row, counting

# The fields of a case that a set may have asked in two ways, with the plain way, against which the others are held.
FIELDS = {"cache": "cold", "track": "default", "precision": "f32", "pass": "forward", "variant": "as locked"}
CLOCKS = {"cache": "first"}  # what a cache is for is the first step; the others are about steady ones


@dataclass(frozen=True, slots=True)
class Way:
    """One stack on one question, asked in one way and in another. `speedup` is of the way over the plain one; its
    `stack` is the way's name."""

    question: str
    stack: str
    speedup: Speedup


@dataclass(frozen=True, slots=True)
class Ways:
    """All that was asked with several values of a field. `pairing` has the field's values for stacks, and each stack on
    each question for a question; `stacks` and `pairing.names` say which. `base` is the plain value."""

    field: str
    pairing: Pairing
    stacks: Mapping[str, str]

    @property
    def clock(self) -> str:
        """Which time is compared."""
        return CLOCKS.get(self.field, "synced")

    @property
    def values(self) -> list[str]:
        """All values, the plain one first."""
        return sorted(self.pairing.stacks, key=lambda value: (value != FIELDS[self.field], value))

    @property
    def base(self) -> str:
        """What the others are held against, unless somebody asks otherwise."""
        return self.values[0]

    def over(self, base: str) -> tuple[Way, ...]:
        """Every other value over one, question by question: one family."""
        found = [
            Way(each.name, self.stacks[each.comparison_id], each)
            for each in self.pairing.over(base)
            if each.comparison_id in self.stacks
        ]
        return tuple(sorted(found, key=lambda way: (way.question, way.speedup.stack, way.stack)))


def within(rows: Iterable[Row], field: str, protocol: Protocol) -> Ways | None:
    """A set's processes as if a field of the case were the stack, each stack a question of its own; None where nothing
    was asked in two ways in the same blocks: a set may have been put together from shares, which share none."""
    kept = counting(rows)
    timings = block_timings(kept, CLOCKS.get(field, "synced"))
    found: dict[Side, Timings] = {}
    heads: dict[str, Row] = {}
    machines: dict[str, set[tuple[str, str]]] = {}
    asked: dict[str, tuple[str, str]] = {}  # by question and stack: the question alone, and the stack
    for row in kept:
        side, id_ = (row["comparison_id"], row.stack_name), row.case.digest(field)
        if side in timings:
            found[id_, row.text(field) or FIELDS[field]] = timings[side]
            question = row.case.digest(field, "stack", "variant")
            stack = row.text("stack") if field == "variant" else row.stack_name
            machines.setdefault(id_, set()).add((row.text("machine_id"), row.text("set_id")))
            heads[question], asked[id_] = row | {"comparison_id": question}, (question, stack)
    both = {id_ for id_, _ in found if sum(each == id_ for each, _ in found) > 1 and len(machines[id_]) == 1}
    if not both:
        return None
    names = question_names(
        [heads[question] for question in {asked[id_][0]: None for id_ in asked if id_ in both}], without=field
    )
    kept_sides = {side: each for side, each in found.items() if side[0] in both}
    pairing = Pairing(
        kept_sides,
        {id_: names[asked[id_][0]] for id_ in asked if id_ in both},
        frozenset(value for _, value in kept_sides),
        protocol,
    )
    return Ways(field, pairing, {id_: stack for id_, (_, stack) in asked.items() if id_ in both})


def all_ways(rows: Iterable[Row], protocol: Protocol) -> tuple[Ways, ...]:
    """Of every field that was asked in two ways."""
    kept = list(rows)
    return tuple(found for field in FIELDS if (found := within(kept, field, protocol)))
