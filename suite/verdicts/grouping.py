"""Groups the rows of a set by any key, and by question."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from suite.case import Outcome, Purpose
from suite.order import natural
from suite.sets.rows import Row
from suite.verdicts.names import question_names

Item = TypeVar("Item")
Key = TypeVar("Key")
Question = TypeVar("Question")


def grouped(items: Iterable[Item], key: Callable[[Item], Key]) -> dict[Key, list[Item]]:
    """Returns {key: its items}; keys and items keep the order in which they come."""
    groups: dict[Key, list[Item]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


def by_comparison(row: Row) -> str:
    return row.text("comparison_id")


def reasons(rows: Iterable[Row]) -> tuple[tuple[str, str], ...]:
    """Returns (stack, its reason or outcome) of every stack that didn't end `ok`, sorted by stack."""
    return tuple(
        sorted((row.stack_name, row.text("reason") or row.outcome) for row in rows if row.outcome != Outcome.OK)
    )


def by_question(
    rows: Iterable[Row],
    purpose: Purpose,
    question: Callable[[str, str, list[Row]], Question],
    id_of: Callable[[Row], str] = by_comparison,
) -> tuple[Question, ...]:
    """Returns `question(id, name, rows)` for every question with rows of a purpose, sorted by the questions' names.
    `id_of` returns the id of a row's question."""
    groups = grouped((row for row in rows if row["purpose"] == purpose), id_of)
    names = question_names([group[0] | {"comparison_id": id_} for id_, group in groups.items()])
    return tuple(question(id_, names[id_], groups[id_]) for id_ in sorted(groups, key=lambda id_: natural(names[id_])))
