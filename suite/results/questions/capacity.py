"""What a set says about memory: who fits at which size, where the others ran out, and how large each could be."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from suite.case import GROWING, OUT_OF_MEMORY, Outcome, Purpose, dims_text
from suite.results.questions.curves import Curve, curve
from suite.results.questions.memory_parts import floor_bytes
from suite.results.questions.names import dims_words, question_names
from suite.results.store.rows import Row


@dataclass(frozen=True, slots=True)
class Size:
    """One column of a question: the dims that vary, and the least that any stack must hold."""

    label: str
    value: int | None  # of the one dim that varies
    floor_bytes: float


@dataclass(frozen=True, slots=True)
class Line:
    """One stack over all sizes of a question; None where a size wasn't asked. `limit` is that of the question."""

    stack: str
    rows: tuple[Row | None, ...]
    curve: Curve | None
    limit: float | None
    sizes: tuple[Size, ...]

    @property
    def tried(self) -> int:
        """How many processes were run."""
        return sum(row is not None and row["provenance"] == "measured" for row in self.rows)

    @property
    def largest(self) -> int | None:
        """The largest size that fits."""
        return max((size for size, row in self.valued() if row.outcome == Outcome.OK), default=None)

    @property
    def failed(self) -> int | None:
        """The smallest size that was tried and ran out of memory."""
        out = (size for size, row in self.valued() if row.outcome in OUT_OF_MEMORY and row["provenance"] == "measured")
        return min(out, default=None)

    @property
    def failed_in(self) -> str:
        """In which phase it did; empty where nobody told."""
        return next((row.text("phase") for size, row in self.valued() if size == self.failed), "")

    @property
    def stopped(self) -> tuple[int, str] | None:
        """The smallest size above the largest that fits that ended neither way, and how: it says nothing of memory."""
        largest = self.largest or 0
        ended = [
            (size, row.outcome)
            for size, row in self.valued()
            if size > largest and row.outcome not in (Outcome.OK, *OUT_OF_MEMORY)
        ]
        return min(ended, default=None)

    @property
    def predicted(self) -> int | None:
        """The largest size that fits by the curve."""
        return self.curve.largest(self.limit) if self.curve and self.limit is not None else None

    @property
    def is_found(self) -> bool:
        """Whether the largest size is known: the next one failed, or some one has and the curve says which is last."""
        if self.failed is None:
            return False
        largest = self.largest or 0
        return self.failed == largest + 1 or (
            self.curve is not None and self.curve.is_good and self.predicted == largest
        )

    @property
    def peaks(self) -> dict[int, float]:
        """Bytes by size, of those that fit."""
        return peaks_of(self.valued())

    def valued(self) -> list[tuple[int, Row]]:
        """Rows by the value of the one dim that varies."""
        return valued(self.sizes, self.rows)


@dataclass(frozen=True, slots=True)
class MemoryQuestion:
    """One workload and pass under one limit, over all sizes that were asked. `head` is one of its rows; `axis` is the
    one dim that varies, empty where none or several do. `tolerance`: of a search, how near the first size that doesn't
    fit has to come to the largest that does, as a share of it; None where all stacks were asked the same sizes."""

    id: str
    name: str
    head: Row
    axis: str
    sizes: tuple[Size, ...]
    lines: tuple[Line, ...]
    tolerance: float | None = None

    @property
    def limit(self) -> float | None:
        """Bytes; None where only the machine limits."""
        return self.head.number("limit_memory_bytes")


def memory_questions(rows: Iterable[Row], tolerance: float | None = None) -> tuple[MemoryQuestion, ...]:
    """All that memory processes have answered, by name. `rows`: one for each planned process; `tolerance`: that of the
    search that they belong to, if they do."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        if row["purpose"] == Purpose.MEMORY:
            groups.setdefault(question_of(row), []).append(row)
    names = question_names([group[0] | {"comparison_id": key} for key, group in groups.items()])
    found = (question(key, names[key], group, tolerance) for key, group in groups.items())
    return tuple(sorted(found, key=lambda each: each.name))


def question_of(row: Row) -> str:
    """What rows share that differ in the stack and in how large the step is."""
    rest = {name: value for name, value in row.case.dims.items() if name not in GROWING}
    return f"{row.case.digest('stack', 'variant', 'dims', 'size')} {dims_text(rest)}"


def question(key: str, name: str, rows: Sequence[Row], tolerance: float | None) -> MemoryQuestion:
    """From the rows of one question."""
    growing = [dim for dim in rows[0].case.dims if dim in GROWING]
    varying = [dim for dim in growing if len({row.case.dims[dim] for row in rows}) > 1]
    axis = varying[0] if len(varying) == 1 else ""
    by_size: dict[tuple[int, ...], list[Row]] = {}
    for row in rows:
        by_size.setdefault(tuple(row.case.dims[dim] for dim in growing), []).append(row)
    shown = varying or growing
    sizes = []
    for values, group in sorted(by_size.items()):
        dims = dict(zip(growing, values, strict=True))
        sizes.append(
            Size(dims_words({dim: dims[dim] for dim in shown}), dims[axis] if axis else None, floor_bytes(group[0]))
        )
    of_size = [by_size[values] for values in sorted(by_size)]
    stacks = sorted({row.stack_name for row in rows})
    lines = tuple(line(stack, of_size, tuple(sizes), axis) for stack in stacks)
    return MemoryQuestion(key, name, rows[0], axis, tuple(sizes), lines, tolerance if axis else None)


def line(stack: str, of_size: Sequence[Sequence[Row]], sizes: tuple[Size, ...], axis: str) -> Line:
    """One stack's rows, with the curve through its peaks."""
    rows = tuple(next((row for row in group if row.stack_name == stack), None) for group in of_size)
    limit = next((row.limit_bytes for row in rows if row is not None and row.limit_bytes), None)
    return Line(stack, rows, curve(peaks_of(valued(sizes, rows)), axis), limit, sizes)


def valued(sizes: Sequence[Size], rows: Sequence[Row | None]) -> list[tuple[int, Row]]:
    """Rows by the value of the one dim that varies."""
    return [
        (size.value, row) for size, row in zip(sizes, rows, strict=True) if size.value is not None and row is not None
    ]


def peaks_of(sized: Iterable[tuple[int, Row]]) -> dict[int, float]:
    """Bytes by size, of those that fit."""
    return {size: peak for size, row in sized if row.outcome == Outcome.OK and (peak := row.peak_bytes)}
