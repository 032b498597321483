"""What a step's memory is made of, as explain processes were told."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from suite.case import Outcome, Purpose
from suite.results.questions.names import question_names
from suite.results.store.rows import Row


@dataclass(frozen=True, slots=True)
class Made:
    """What one stack holds at the peak of a step: bytes by category, most first, and the largest tensors as (category,
    name, bytes). `told_by` is empty where nobody could tell."""

    stack: str
    told_by: str
    categories: tuple[tuple[str, float], ...]
    largest: tuple[tuple[str, str, float], ...]

    @property
    def total(self) -> float:
        """Of all categories."""
        return sum(size for _, size in self.categories)


@dataclass(frozen=True, slots=True)
class MadeOf:
    """One question, by stack."""

    id: str
    name: str
    stacks: tuple[Made, ...]


def made_of(rows: Iterable[Row]) -> tuple[MadeOf, ...]:
    """Every question that some stack told of, by name. `rows`: one for each planned process."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        if row["purpose"] == Purpose.EXPLAIN and row.outcome == Outcome.OK:
            groups.setdefault(row["comparison_id"], []).append(row)
    told = {key: group for key, group in groups.items() if any(row.mapping("holders") for row in group)}
    names = question_names([group[0] for group in told.values()])
    found = (
        MadeOf(key, names[key], tuple(sorted(map(made, group), key=lambda each: each.stack)))
        for key, group in told.items()
    )
    return tuple(sorted(found, key=lambda each: each.name))


def made(row: Row) -> Made:
    """One explain process's."""
    told = row.mapping("holders")
    largest = tuple((each["category"], each["name"], float(each["bytes"])) for each in told.get("largest", ()))
    categories = tuple((name, float(size)) for name, size in told.get("categories", {}).items())
    return Made(row.stack_name, str(told.get("told_by", "")), categories, largest)
