"""The programs that the stacks of a question hand to their compilers, as ir processes kept them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from suite.case import Purpose
from suite.ir.findings import Finding, StackPrograms, findings
from suite.ir.summary import Program
from suite.results.questions.grouping import by_question, reasons
from suite.results.questions.memory_parts import parts
from suite.sets.rows import Row


@dataclass(frozen=True, slots=True)
class ProgramPair:
    """Two stacks of a question, and the differences between the programs of their steps."""

    stacks: tuple[str, str]
    findings: tuple[Finding, ...]


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

    @property
    def pairs(self) -> tuple[ProgramPair, ...]:
        """Returns every two stacks with XLA programs, and the differences between their programs."""
        return tuple(ProgramPair((a.stack, b.stack), tuple(findings(a, b))) for a, b in combinations(self.of_xla, 2))


@dataclass(frozen=True, slots=True)
class Capture:
    """An ir process, which kept the programs of a case (`row`), and the memory process of the same case, if any."""

    row: Row
    memory: Row | None

    @property
    def planned_bytes(self) -> float | None:
        """Returns the bytes that the step's compiler plans to hold: arguments, temporaries, and results that overwrite
        no argument. None if it doesn't say."""
        names = ("argument", "output", "temporary", "aliased")
        sizes = [self.row.number(f"program_{name}_bytes") for name in names]
        argument, output, temporary, aliased = (size or 0.0 for size in sizes)
        return None if sizes[0] is None else argument + output + temporary - aliased

    @property
    def held_bytes(self) -> float | None:
        """Returns the bytes that the memory process held at its peak, without Python and the framework; None if
        unknown."""
        held = [size for kind, size in parts(self.memory) if kind != "base"] if self.memory else []
        return sum(held) if held else None

    @property
    def first_seconds(self) -> float | None:
        """Returns the seconds of the ir process's first call, or of compiling for shapes alone; None if unknown."""
        return self.figure("first call")

    @property
    def seconds(self) -> float | None:
        """Returns the seconds of the whole ir process and of reading its programs; None if unknown."""
        return self.figure("capture")

    def figure(self, name: str) -> float | None:
        """Returns a time of the ir process, in seconds, by the metric's name; None if it has no such metric."""
        metrics = self.row["metrics"] or []
        return next((m["values"][0] for m in metrics if m["kind"] == Purpose.IR and m["name"] == name), None)


def captures(rows: Iterable[Row]) -> tuple[Capture, ...]:
    """Returns every ir process, in the order of rows."""
    listed = [*rows]
    memory = {row["case_id"]: row for row in listed if row["purpose"] == Purpose.MEMORY}
    return tuple(Capture(row, memory.get(row["case_id"])) for row in listed if row["purpose"] == Purpose.IR)


def program_questions(rows: Iterable[Row]) -> tuple[ProgramQuestion, ...]:
    """Returns every question with an ir process, sorted by name. `rows` has one row for each planned process."""
    return by_question(rows, Purpose.IR, program_question)


def program_question(id_: str, name: str, rows: Sequence[Row]) -> ProgramQuestion:
    """Returns the question of these rows, with the programs of each stack."""
    stacks = sorted(
        (stack_programs(row) for row in rows if row.entries("programs")), key=lambda programs: programs.stack
    )
    unread = [(each.stack, each.unread) for each in stacks if each.unread]
    return ProgramQuestion(id_, name, rows[0], tuple(stacks), (*reasons(rows), *unread))


def stack_programs(row: Row) -> StackPrograms:
    """Returns the programs that a stack handed to its compiler, as one ir process recorded them."""
    compiles = tuple(row[f"compiles_{step}"] for step in ("first", "second", "steady"))
    return StackPrograms(row.stack_name, programs_of(row), compiles, row["graph_breaks"])


def programs_of(row: Row) -> tuple[Program, ...]:
    """Returns a row's programs, in the order in which they were compiled."""
    return row.decoded("programs", tuple[Program, ...]) or ()
