"""Memory: which stack fits at which size, where the others ran out of memory, and how large each could be."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from functools import partial

from suite.case import GROWING, OUT_OF_MEMORY, Outcome, Purpose, dims_text
from suite.results.names import dims_words
from suite.results.questions.bracket import Bracket
from suite.results.questions.curves import MemoryCurve, curve
from suite.results.questions.grouping import by_question, grouped
from suite.results.questions.memory_parts import floor_bytes
from suite.sets.rows import Row


@dataclass(frozen=True, slots=True)
class Size:
    """One column of a question: the dims that vary, in words, and the least bytes that any stack must hold."""

    label: str
    value: int | None  # the value of the one dim that varies; None where none or several do
    floor_bytes: float


@dataclass(frozen=True, slots=True)
class StackCapacity:
    """One stack over all sizes of a question: `rows` has one row a size, None if the stack has no process of this size.
    `limit` is in bytes."""

    stack: str
    rows: tuple[Row | None, ...]
    curve: MemoryCurve | None
    limit: float | None
    sizes: tuple[Size, ...]

    @property
    def tried(self) -> int:
        """Returns how many sizes were run, not inferred or predicted."""
        return sum(row is not None and row["provenance"] == "measured" for row in self.rows)

    @property
    def bracket(self) -> Bracket:
        """Returns the bracket of the largest size that fits, by the processes that fitted or ran out of memory."""
        fits = {size: row.outcome == Outcome.OK for size, row in self.valued() if has_fitted_or_failed(row)}
        return Bracket.of(fits)

    @property
    def largest(self) -> int | None:
        """Returns the largest size that fits; None if none does."""
        return self.bracket.low or None

    @property
    def failed(self) -> int | None:
        """Returns the smallest size that was run and ran out of memory; None if none did."""
        return self.bracket.high

    @property
    def failed_in(self) -> str:
        """Returns the phase in which `failed` ran out of memory; empty where unknown."""
        return next((row.text("phase") for size, row in self.valued() if size == self.failed), "")

    @property
    def stopped(self) -> tuple[int, str] | None:
        """Returns (size, outcome) of the smallest size above `largest` that ended neither `ok` nor out of memory."""
        largest = self.largest or 0
        ended = [
            (size, row.outcome)
            for size, row in self.valued()
            if size > largest and row.outcome not in (Outcome.OK, *OUT_OF_MEMORY)
        ]
        return min(ended, default=None)

    @property
    def predicted(self) -> int | None:
        """Returns the largest size that fits by the curve; None without a curve or a limit."""
        return self.curve.largest(self.limit) if self.curve and self.limit is not None else None

    @property
    def is_found(self) -> bool:
        """Whether `largest` is certain: the next size ran out of memory, or a larger one did and the curve agrees."""
        if self.failed is None:
            return False
        largest = self.largest or 0
        return self.failed == largest + 1 or (
            self.curve is not None and self.curve.is_good and self.predicted == largest
        )

    @property
    def peaks(self) -> dict[int, float]:
        """Returns {size: peak in bytes} of the sizes that fit."""
        return peaks_of(self.valued())

    def valued(self) -> list[tuple[int, Row]]:
        """Returns (value of the one dim that varies, row) of each size that has both."""
        return valued(self.sizes, self.rows)


@dataclass(frozen=True, slots=True)
class MemoryQuestion:
    """One workload and pass under one limit, over all of its sizes, with a line for each stack. `head` is one of its
    rows; `axis` is the one dim that varies, empty if none or several do. `tolerance` is that of a search, which ends
    when the smallest size that fails is larger than the largest that fits by at most this share; it is None without a
    search, when all stacks have the same sizes."""

    id: str
    name: str
    head: Row
    axis: str
    sizes: tuple[Size, ...]
    lines: tuple[StackCapacity, ...]
    tolerance: float | None = None

    @property
    def limit(self) -> float | None:
        """Returns the memory limit in bytes; None where the machine's memory is the only limit."""
        return self.head.number("limit_memory_bytes")


def memory_questions(rows: Iterable[Row], tolerance: float | None = None, vary: str = "") -> tuple[MemoryQuestion, ...]:
    """Returns every question of the memory processes, sorted by name. `rows` has one row for each planned process;
    `tolerance` is that of a search for the largest size that fits, and `vary` its dim."""
    growing = GROWING | {vary} if vary else GROWING
    made = partial(question, tolerance=tolerance, grows=growing)
    return by_question(rows, Purpose.MEMORY, made, partial(question_of, grows=growing))


def question_of(row: Row, grows: Set[str]) -> str:
    """Returns a key that is the same for rows that differ only in the stack and in dims that grow the step."""
    rest = {name: value for name, value in row.case.dims.items() if name not in grows}
    return f"{row.case.digest('stack', 'variant', 'dims', 'size')} {dims_text(rest)}"


def question(id_: str, name: str, rows: Sequence[Row], tolerance: float | None, grows: Set[str]) -> MemoryQuestion:
    """Returns a memory question of these rows, over the dims that grow the step."""
    growing = [dim for dim in rows[0].case.dims if dim in grows]
    varying = [dim for dim in growing if len({row.case.dims[dim] for row in rows}) > 1]
    axis = varying[0] if len(varying) == 1 else ""
    by_size = grouped(rows, lambda row: tuple(row.case.dims[dim] for dim in growing))
    shown = varying or growing
    sizes = []
    for values, group in sorted(by_size.items()):
        dims = dict(zip(growing, values, strict=True))
        sizes.append(
            Size(dims_words({dim: dims[dim] for dim in shown}), dims[axis] if axis else None, floor_bytes(group[0]))
        )
    of_size = [by_size[values] for values in sorted(by_size)]
    stacks = sorted({row.stack_name for row in rows})
    lines = tuple(stack_capacity(stack, of_size, tuple(sizes), axis) for stack in stacks)
    return MemoryQuestion(id_, name, rows[0], axis, tuple(sizes), lines, tolerance if axis else None)


def stack_capacity(stack: str, of_size: Sequence[Sequence[Row]], sizes: tuple[Size, ...], axis: str) -> StackCapacity:
    """Returns one stack over all sizes, with the curve through its peaks; `of_size` has the rows of each size."""
    rows = tuple(next((row for row in group if row.stack_name == stack), None) for group in of_size)
    limit = next((row.limit_bytes for row in rows if row is not None and row.limit_bytes), None)
    return StackCapacity(stack, rows, curve(peaks_of(valued(sizes, rows)), axis), limit, sizes)


def has_fitted_or_failed(row: Row) -> bool:
    """Whether a process fitted, or was run and ran out of memory."""
    return row.outcome == Outcome.OK or (row.outcome in OUT_OF_MEMORY and row["provenance"] == "measured")


def valued(sizes: Sequence[Size], rows: Sequence[Row | None]) -> list[tuple[int, Row]]:
    """Returns (value of the one dim that varies, row) of each size that has both."""
    return [
        (size.value, row) for size, row in zip(sizes, rows, strict=True) if size.value is not None and row is not None
    ]


def peaks_of(sized: Iterable[tuple[int, Row]]) -> dict[int, float]:
    """Returns {size: peak in bytes} of the sizes that fit and whose peak is known."""
    return {size: peak for size, row in sized if row.outcome == Outcome.OK and (peak := row.peak_bytes)}
