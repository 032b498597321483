"""What an XLA compiler plans to hold beside what a memory process held, and what keeping the programs takes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from suite.case import Purpose
from suite.results.questions.memory_parts import parts
from suite.sets.rows import Row


@dataclass(frozen=True, slots=True)
class Capture:
    """An ir process, which kept the programs of a case (`row`), and the memory process of the same case, if any. What
    is unknown is None."""

    row: Row
    memory: Row | None

    @property
    def planned_bytes(self) -> float | None:
        """Arguments, temporaries, and results that overwrite no argument."""
        names = ("argument", "output", "temporary", "aliased")
        sizes = [self.row.number(f"program_{name}_bytes") for name in names]
        argument, output, temporary, aliased = (size or 0.0 for size in sizes)
        return None if sizes[0] is None else argument + output + temporary - aliased

    @property
    def held_bytes(self) -> float | None:
        """The peak without Python and the framework."""
        held = [size for kind, size in parts(self.memory) if kind != "base"] if self.memory else []
        return sum(held) if held else None

    @property
    def first_seconds(self) -> float | None:
        """The first call, or compiling for shapes alone."""
        return self.figure("first call")

    @property
    def seconds(self) -> float | None:
        """The whole process, and reading its programs."""
        return self.figure("capture")

    def figure(self, name: str) -> float | None:
        return next((m["values"][0] for m in self.row.metrics if m["kind"] == Purpose.IR and m["name"] == name), None)


def captures(rows: Iterable[Row]) -> tuple[Capture, ...]:
    """Returns every ir process, in the order of rows."""
    listed = [*rows]
    memory = {row["case_id"]: row for row in listed if row["purpose"] == Purpose.MEMORY}
    return tuple(Capture(row, memory.get(row["case_id"])) for row in listed if row["purpose"] == Purpose.IR)
