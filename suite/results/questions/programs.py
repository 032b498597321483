"""What the stacks of a question hand to their compilers, as ir processes kept it."""

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
    """One question: the stacks whose programs were read, by name, and why others have none. `head` is one row."""

    id: str
    name: str
    head: Row
    stacks: tuple[Handed, ...]
    without: tuple[tuple[str, str], ...]  # (stack, reason)


def program_questions(rows: Iterable[Row]) -> tuple[ProgramQuestion, ...]:
    """Every question of which programs were asked, by name. `rows`: one for each planned process."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        if row["purpose"] == Purpose.IR:
            groups.setdefault(row["comparison_id"], []).append(row)
    names = question_names([group[0] for group in groups.values()])
    found = []
    for key, group in groups.items():
        read = [handed(row) for row in group if row.entries("programs")]
        without = [(row.stack_name, row.text("reason") or row.outcome) for row in group if row.outcome != Outcome.OK]
        by_name = sorted(read, key=lambda each: each.stack)
        found.append(ProgramQuestion(key, names[key], group[0], tuple(by_name), tuple(sorted(without))))
    return tuple(sorted(found, key=lambda each: each.name))


def handed(row: Row) -> Handed:
    """What one process tells of a stack."""
    compiles = tuple(row[f"compiles_{step}"] for step in ("first", "second", "steady"))
    return Handed(row.stack_name, programs_of(row), compiles, row["graph_breaks"])


def programs_of(row: Row) -> tuple[Program, ...]:
    """A row's, in the order in which they were compiled."""
    return tuple(map(Program.from_json, row.entries("programs")))
