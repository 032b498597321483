"""The programs that the stacks of a question hand to their compilers, as ir processes kept them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from suite.case import Purpose
from suite.ir.findings import StackPrograms
from suite.ir.summary import Program
from suite.order import natural
from suite.sets.rows import Row
from suite.verdicts.grouping import by_question, reasons


@dataclass(frozen=True, slots=True)
class ProgramQuestion:
    """One question: its stacks with programs, sorted by name, and the reasons why other stacks have none, or not all.
    `head` is one of its rows."""

    id: str
    name: str
    head: Row
    stacks: tuple[StackPrograms, ...]
    without: tuple[tuple[str, str], ...]  # (stack, reason)

    @property
    def of_xla(self) -> tuple[StackPrograms, ...]:
        """Returns the stacks whose step is an XLA program; of other compilers' generated code only the kernels are
        known."""
        return tuple(stack for stack in self.stacks if stack.step.contents)


def program_questions(rows: Iterable[Row]) -> tuple[ProgramQuestion, ...]:
    """Returns every question with an ir process, sorted by name. `rows` has one row for each planned process."""
    return by_question(rows, Purpose.IR, program_question)


def program_question(id_: str, name: str, rows: Sequence[Row]) -> ProgramQuestion:
    kept = [row for row in rows if row.entries("programs")]
    stacks = sorted(map(stack_programs, kept), key=lambda programs: natural(programs.stack))
    unread = [(each.stack, each.unread) for each in stacks if each.unread]
    return ProgramQuestion(id_, name, rows[0], tuple(stacks), (*reasons(rows), *unread))


def stack_programs(row: Row) -> StackPrograms:
    """Returns the programs that a stack handed to its compiler, as one ir process recorded them."""
    compiles = tuple(row[f"compiles_{step}"] for step in ("first", "second", "steady"))
    return StackPrograms(row.stack_name, programs_of(row), compiles, row["graph_breaks"])


def programs_of(row: Row) -> tuple[Program, ...]:
    """Returns a row's programs, in the order in which they were compiled."""
    return row.decoded("programs", tuple[Program, ...]) or ()
