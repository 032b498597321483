"""The holders of a step's memory, as explain processes recorded them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from suite.case import Outcome, Purpose
from suite.results.questions.grouping import by_question
from suite.results.store.rows import Row


@dataclass(frozen=True, slots=True)
class StackHolders:
    """The memory that one stack holds at the peak of a step: (category, bytes), most first, and the largest tensors as
    (category, name, bytes). `recorded_by` is the tool that recorded it, empty if no tool could."""

    stack: str
    recorded_by: str
    categories: tuple[tuple[str, float], ...]
    largest: tuple[tuple[str, str, float], ...]

    @property
    def total(self) -> float:
        """Returns the bytes of all categories."""
        return sum(size for _, size in self.categories)


@dataclass(frozen=True, slots=True)
class HolderQuestion:
    """One question, with the holders of each stack."""

    id: str
    name: str
    stacks: tuple[StackHolders, ...]


def holder_questions(rows: Iterable[Row]) -> tuple[HolderQuestion, ...]:
    """Returns every question with holders of some stack, by name. `rows` has one row for each planned process."""
    explained = [row for row in rows if row["purpose"] == Purpose.EXPLAIN and row.outcome == Outcome.OK]
    known = {row["comparison_id"] for row in explained if row.mapping("holders")}
    return by_question((row for row in explained if row["comparison_id"] in known), Purpose.EXPLAIN, holder_question)


def holder_question(id_: str, name: str, rows: Sequence[Row]) -> HolderQuestion:
    """Returns the question of these rows, with the holders of each stack."""
    return HolderQuestion(id_, name, tuple(sorted(map(stack_holders, rows), key=lambda holders: holders.stack)))


def stack_holders(row: Row) -> StackHolders:
    """Returns the holders that one explain process recorded."""
    holders = row.mapping("holders")
    largest = tuple((held["category"], held["name"], float(held["bytes"])) for held in holders.get("largest", ()))
    categories = tuple((name, float(size)) for name, size in holders.get("categories", {}).items())
    return StackHolders(row.stack_name, str(holders.get("told_by", "")), categories, largest)
