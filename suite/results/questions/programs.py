"""The programs that the stacks of a question hand to their compilers, as ir processes kept them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from suite.case import Purpose
from suite.ir.findings import Finding, Handed, findings
from suite.ir.summary import Program
from suite.results.questions.grouping import answers, reasons
from suite.results.questions.memory_parts import parts
from suite.results.store.rows import Row


@dataclass(frozen=True, slots=True)
class ProgramPair:
    """Two stacks of a question, and what differs between the programs of their steps."""

    stacks: tuple[str, str]
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class ProgramQuestion:
    """One question: its stacks with programs, sorted by name, and why others have none. `head` is one of its rows."""

    id: str
    name: str
    head: Row
    stacks: tuple[Handed, ...]
    without: tuple[tuple[str, str], ...]  # (stack, reason)

    @property
    def of_xla(self) -> tuple[Handed, ...]:
        """Returns the stacks whose step is a program of XLA's; of generated code only the kernels are known."""
        return tuple(stack for stack in self.stacks if stack.step.contents)

    @property
    def pairs(self) -> tuple[ProgramPair, ...]:
        """Returns every two stacks with programs of XLA's, and what differs between them."""
        return tuple(ProgramPair((a.stack, b.stack), tuple(findings(a, b))) for a, b in combinations(self.of_xla, 2))


@dataclass(frozen=True, slots=True)
class Capture:
    """A process that kept the programs of a case, and the memory process of the same case; None where there is none."""

    row: Row
    memory: Row | None

    @property
    def planned_bytes(self) -> float | None:
        """Returns what the step's compiler plans to hold: arguments, results beside them, temporaries. None where it
        doesn't say."""
        names = ("argument", "output", "temporary", "aliased")
        sizes = [self.row.number(f"program_{name}_bytes") for name in names]
        argument, output, temporary, aliased = (size or 0.0 for size in sizes)
        return None if sizes[0] is None else argument + output + temporary - aliased

    @property
    def held_bytes(self) -> float | None:
        """Returns what a process held at its peak, measured, beyond Python and the framework; None where unknown."""
        held = [size for kind, size in parts(self.memory) if kind != "base"] if self.memory else []
        return sum(held) if held else None

    @property
    def first_seconds(self) -> float | None:
        """Returns its own first call, or its compiling on shapes alone."""
        return self.figure("first call")

    @property
    def seconds(self) -> float | None:
        """Returns the whole process with the reading of its programs."""
        return self.figure("capture")

    def figure(self, name: str) -> float | None:
        """Returns one of its own seconds by name; None where it has none."""
        metrics = self.row["metrics"] or []
        return next((m["values"][0] for m in metrics if m["kind"] == Purpose.IR and m["name"] == name), None)


def captures(rows: Iterable[Row]) -> tuple[Capture, ...]:
    """Returns every process that kept programs, in the order of rows."""
    listed = [*rows]
    memory = {row["case_id"]: row for row in listed if row["purpose"] == Purpose.MEMORY}
    return tuple(Capture(row, memory.get(row["case_id"])) for row in listed if row["purpose"] == Purpose.IR)


def program_questions(rows: Iterable[Row]) -> tuple[ProgramQuestion, ...]:
    """Returns every question with an ir process, sorted by name. `rows` has one row for each planned process."""
    return answers(rows, Purpose.IR, program_question)


def program_question(id_: str, name: str, rows: Sequence[Row]) -> ProgramQuestion:
    """Returns one question, from its rows."""
    stacks = sorted((handed(row) for row in rows if row.entries("programs")), key=lambda handed: handed.stack)
    return ProgramQuestion(id_, name, rows[0], tuple(stacks), reasons(rows))


def handed(row: Row) -> Handed:
    """Returns what a stack handed to its compiler, as one ir process recorded it."""
    compiles = tuple(row[f"compiles_{step}"] for step in ("first", "second", "steady"))
    return Handed(row.stack_name, programs_of(row), compiles, row["graph_breaks"])


def programs_of(row: Row) -> tuple[Program, ...]:
    """Returns a row's programs, in the order in which they were compiled."""
    return tuple(map(Program.from_json, row.entries("programs")))
