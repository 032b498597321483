"""Compares cases of one set that differ in one field: cold and warm cache, forward and train. They share blocks, so
their processes are paired like those of different stacks. Pure functions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from suite.case import BEFORE, Outcome, stack_name
from suite.order import natural
from suite.protocol import Protocol
from suite.sets.rows import Row, counted_timed
from suite.verdicts.grouping import grouped
from suite.verdicts.names import question_names
from suite.verdicts.pairing import Timing, Timings, block_timings
from suite.verdicts.speedups import Pairing
from suite.verdicts.verdicts import Speedup

# The fields of a case that a set may have with several values, each with its usual value: the default baseline.
FIELDS = {
    "cache": "cold",
    "track": "default",
    "precision": "f32",
    "pass": "forward",
    "threads": "1",
    "variant": "as locked",
}
CLOCKS = {"cache": "first"}  # a cache shortens the first call; the other fields are compared by steady calls


@dataclass(frozen=True, slots=True)
class FieldComparison:
    """The cases of a set that have several values of a field. In `pairing`, the field's values take the place of
    stacks, and each stack on each question takes the place of a question. `stacks` and `pairing.names` have the names
    of the stack and of the question, by the id of this pair."""

    field: str
    pairing: Pairing
    stacks: Mapping[str, str]

    @property
    def clock(self) -> str:
        """Returns the clock whose times are compared."""
        return CLOCKS.get(self.field, "synced")

    @property
    def values(self) -> list[str]:
        """Returns all values of the field, the usual one first."""
        return in_order(self.pairing.stacks, FIELDS[self.field])

    @property
    def base(self) -> str:
        """Returns the value that is the baseline by default."""
        return self.values[0]

    def over(self, base: str) -> list[Speedup]:
        """Returns the speedup of every other value over `base` on every question, judged together as one family."""
        shown = [speedup for speedup in self.pairing.over(base).values() if speedup.comparison_id in self.stacks]
        order = self.values
        return sorted(shown, key=lambda it: (natural(it.name), order.index(it.stack), self.stacks[it.comparison_id]))


def compare_field(rows: Iterable[Row], field: str, protocol: Protocol) -> FieldComparison | None:
    """Pairs the processes of a set that count as if a field of the case were the stack, and each stack a question of
    its own. Returns None if no stack ran one question with two values of the field in one run (shares of a set are
    different runs)."""
    listed, clock = list(rows), CLOCKS.get(field, "synced")
    if len({row.text(field) for row in listed}) < 2:
        return None
    timed = [row for row in counted_timed(listed) if row["outcome"] == Outcome.OK and row.median(clock) is not None]
    cases = {row["case_id"]: row.case for row in timed}
    ids = {case_id: case.digest(field) for case_id, case in cases.items()}  # of a stack on a question
    of_each = {
        id_: group
        for id_, group in grouped(timed, lambda row: ids[row["case_id"]]).items()
        if len({row.text(field) for row in group}) > 1
        and len({(row["machine_id"], row["set_id"]) for row in group}) == 1
    }
    if not of_each:
        return None
    questions = {id_: cases[group[0]["case_id"]].digest(field, "stack", "variant") for id_, group in of_each.items()}
    heads = {question: of_each[id_][-1] | {"comparison_id": question} for id_, question in questions.items()}
    names = question_names([*heads.values()], without=field)
    as_stacks = [
        row | {"comparison_id": id_, "stack": row.text(field) or FIELDS[field], "variant": "", "implementation": ""}
        for id_, group in of_each.items()
        for row in group
    ]
    timings = block_timings(as_stacks, clock)
    # Only processes of variants take turns with each other; the others are paired by time.
    kept = undisturbed if field == "variant" else without_turns
    timings = {side: kept(by_block) for side, by_block in timings.items()}
    values = frozenset(value for _, value in timings)
    named = {id_: names[question] for id_, question in questions.items()}
    stacks = {id_: unvaried(group[0]) if field == "variant" else group[0].stack_name for id_, group in of_each.items()}
    return FieldComparison(
        field, Pairing(timings, named, values, protocol, FIELDS[field], clock, one_family=True), stacks
    )


def in_order(values: Iterable[str], usual: str = FIELDS["variant"]) -> list[str]:
    """Returns values of a field, the one first that others are compared with: the usual one, or what was `before`."""
    return sorted(values, key=lambda value: (value not in (usual, BEFORE), natural(value)))


def unvaried(row: Row) -> str:
    """Returns the name of a row's stack without its variant."""
    return stack_name(row.text("stack"), "", row.text("implementation"))


def without_turns(timings: Timings) -> dict[int, list[Timing]]:
    """Returns the processes without the medians of their turns, so that they are paired by time."""
    return {block: [replace(timing, turns={}) for timing in processes] for block, processes in timings.items()}


def undisturbed(timings: Timings) -> dict[int, list[Timing]]:
    """Returns the processes, of which those that took turns count as undisturbed: other programs disturb both sides of
    a round alike, and what is left of that is in the blocks' spread and in the noise floor of the same stack."""
    return {
        block: [replace(timing, disturbed=timing.disturbed and not timing.turns) for timing in processes]
        for block, processes in timings.items()
    }


def field_comparisons(rows: Iterable[Row], protocol: Protocol) -> tuple[FieldComparison, ...]:
    """Returns a comparison for each field of which a set has several values."""
    listed = list(rows)
    return tuple(comparison for field in FIELDS if (comparison := compare_field(listed, field, protocol)))
