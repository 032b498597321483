"""The programs that the stacks of a question hand to their compilers, as ir processes kept them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from suite.case import Outcome, Purpose
from suite.ir.findings import Handed
from suite.ir.summary import Program
from suite.results.questions.names import question_names
from suite.results.store.rows import Row


@dataclass(frozen=True, slots=True)
class ProgramQuestion:
    """One question: its stacks with programs, sorted by name, and why others have none. `head` is one of its rows."""

    id: str
    name: str
    head: Row
    stacks: tuple[Handed, ...]
    without: tuple[tuple[str, str], ...]  # (stack, reason)


def program_questions(rows: Iterable[Row]) -> tuple[ProgramQuestion, ...]:
    """Returns every question with an ir process, sorted by name. `rows` has one row for each planned process."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        if row["purpose"] == Purpose.IR:
            groups.setdefault(row["comparison_id"], []).append(row)
    names = question_names([group[0] for group in groups.values()])
    questions = []
    for key, group in groups.items():
        read = [handed(row) for row in group if row.entries("programs")]
        without = [(row.stack_name, row.text("reason") or row.outcome) for row in group if row.outcome != Outcome.OK]
        by_name = sorted(read, key=lambda handed: handed.stack)
        questions.append(ProgramQuestion(key, names[key], group[0], tuple(by_name), tuple(sorted(without))))
    return tuple(sorted(questions, key=lambda question: question.name))


def handed(row: Row) -> Handed:
    """Returns what a stack handed to its compiler, as one ir process recorded it."""
    compiles = tuple(row[f"compiles_{step}"] for step in ("first", "second", "steady"))
    return Handed(row.stack_name, programs_of(row), compiles, row["graph_breaks"])


def programs_of(row: Row) -> tuple[Program, ...]:
    """Returns a row's programs, in the order in which they were compiled."""
    return tuple(map(Program.from_json, row.entries("programs")))
