"""Compares cases of one set that differ in one field: cold and warm cache, forward and train. They share blocks, so
their processes are paired like those of different stacks. Pure functions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from suite.protocol import Protocol
from suite.results.names import question_names
from suite.results.speedup.pairing import Side, Timing, Timings, block_timings
from suite.results.speedup.verdicts import Pairing, Speedup
from suite.sets.rows import Row, counting

# The fields of a case that a set may have with several values, each with its usual value: the default baseline.
FIELDS = {"cache": "cold", "track": "default", "precision": "f32", "pass": "forward", "variant": "as locked"}
CLOCKS = {"cache": "first"}  # a cache shortens the first call; the other fields are compared by steady calls


@dataclass(frozen=True, slots=True)
class FieldSpeedup:
    """The speedup of one value of a field over another, for one stack on one question. The `stack` and the `baseline`
    of `speedup` are these two values."""

    question: str
    stack: str
    speedup: Speedup


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
        return sorted(self.pairing.stacks, key=lambda value: (value != FIELDS[self.field], value))

    @property
    def base(self) -> str:
        """Returns the value that is the baseline by default."""
        return self.values[0]

    def over(self, base: str) -> tuple[FieldSpeedup, ...]:
        """Returns every other value over `base` on every question, judged together as one family."""
        speedups = [
            FieldSpeedup(speedup.name, self.stacks[speedup.comparison_id], speedup)
            for speedup in self.pairing.over(base)
            if speedup.comparison_id in self.stacks
        ]
        return tuple(sorted(speedups, key=lambda line: (line.question, line.speedup.stack, line.stack)))


def compare_field(rows: Iterable[Row], field: str, protocol: Protocol) -> FieldComparison | None:
    """Pairs a set's processes as if a field of the case were the stack, and each stack a question of its own. Returns
    None if no stack ran one question with two values of the field in one run (shares of a set are different runs)."""
    listed = list(rows)
    if len({row.text(field) for row in listed}) < 2:
        return None
    counted = counting(listed)
    timings = block_timings(counted, CLOCKS.get(field, "synced"))
    if field != "variant":  # only processes of variants take turns with each other; the others are paired by time
        timings = {side: without_turns(by_block) for side, by_block in timings.items()}
    by_value: dict[Side, Timings] = {}
    heads: dict[str, Row] = {}
    runs: dict[str, set[tuple[str, str]]] = {}  # {id of a stack on a question: (machine_id, set_id) of its rows}
    pairs: dict[str, tuple[str, str]] = {}  # {id of a stack on a question: (id of the question, stack)}
    ids = {row["case_id"]: row for row in counted}
    digests = {case: (row.case.digest(field), row.case.digest(field, "stack", "variant")) for case, row in ids.items()}
    for row in counted:
        side, (id_, question) = (row["comparison_id"], row.stack_name), digests[row["case_id"]]
        if side in timings:
            by_value[id_, row.text(field) or FIELDS[field]] = timings[side]
            stack = row.text("stack") if field == "variant" else row.stack_name
            runs.setdefault(id_, set()).add((row.text("machine_id"), row.text("set_id")))
            heads[question], pairs[id_] = row | {"comparison_id": question}, (question, stack)
    value_counts = Counter(id_ for id_, _ in by_value)
    both = {id_ for id_, count in value_counts.items() if count > 1 and len(runs[id_]) == 1}
    if not both:
        return None
    names = question_names(
        [heads[question] for question in {pairs[id_][0]: None for id_ in pairs if id_ in both}], without=field
    )
    paired = {side: by_block for side, by_block in by_value.items() if side[0] in both}
    pairing = Pairing(
        paired,
        {id_: names[pairs[id_][0]] for id_ in pairs if id_ in both},
        frozenset(value for _, value in paired),
        protocol,
        CLOCKS.get(field, "synced"),
        one_family=True,
    )
    return FieldComparison(field, pairing, {id_: stack for id_, (_, stack) in pairs.items() if id_ in both})


def without_turns(timings: Timings) -> dict[int, list[Timing]]:
    """Returns the processes without the medians of their turns, so that they are paired by time."""
    return {block: [replace(timing, turns={}) for timing in processes] for block, processes in timings.items()}


def field_comparisons(rows: Iterable[Row], protocol: Protocol) -> tuple[FieldComparison, ...]:
    """Returns a comparison for each field of which a set has several values."""
    listed = list(rows)
    return tuple(comparison for field in FIELDS if (comparison := compare_field(listed, field, protocol)))
