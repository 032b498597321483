"""Memory: which stack fits at which size, where the others ran out of memory, and how large each could be."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from functools import cached_property, partial

from suite.case import GROWING, OUT_OF_MEMORY, Outcome, Purpose, dims_text
from suite.order import natural
from suite.plan.search.bracket import Bracket
from suite.plan.search.curves import MemoryCurve, curve
from suite.results.analysis import Analysis
from suite.sets.rows import Row
from suite.verdicts.grouping import by_question, grouped
from suite.verdicts.names import dims_words


@dataclass(frozen=True)
class Capacity:
    """One stack over the sizes of a question, from the smallest up: a row for each size that it was asked. `axis` is
    the one dim that varies, empty if none or several do."""

    stack: str
    axis: str
    rows: tuple[Row, ...]

    @cached_property
    def by_size(self) -> dict[int, Row]:
        return {row.case.dims[self.axis]: row for row in self.rows} if self.axis else {}

    @cached_property
    def peaks(self) -> dict[int, float]:
        """{size: peak in bytes} of the sizes that fit and whose peak is known."""
        sized = self.by_size.items()
        return {size: peak for size, row in sized if row.outcome == Outcome.OK and (peak := row.peak_bytes)}

    @cached_property
    def curve(self) -> MemoryCurve | None:
        return curve(self.peaks, self.axis)

    @property
    def limit(self) -> float | None:
        return next((row.limit_bytes for row in self.rows if row.limit_bytes), None)

    @property
    def tried(self) -> int:
        """Returns how many sizes were run, not inferred or predicted."""
        return sum(row["provenance"] == "measured" for row in self.rows)

    @property
    def bracket(self) -> Bracket:
        """Returns the bracket of the largest size that fits, by the processes that fitted or ran out of memory."""
        return Bracket.of(
            {
                size: row.outcome == Outcome.OK
                for size, row in self.by_size.items()
                if row.outcome == Outcome.OK or (row.outcome in OUT_OF_MEMORY and row["provenance"] == "measured")
            }
        )

    @property
    def stopped(self) -> tuple[int, str] | None:
        """Returns (size, outcome) of the smallest size above the largest that fits that ended neither `ok` nor out of
        memory."""
        neither = (
            (size, row.outcome)
            for size, row in self.by_size.items()
            if size > self.bracket.low and row.outcome not in (Outcome.OK, *OUT_OF_MEMORY)
        )
        return min(neither, default=None)

    @property
    def predicted(self) -> int | None:
        """Returns the largest size that fits by the curve; None without a curve or a limit."""
        return self.curve.largest(self.limit) if self.curve and self.limit is not None else None

    @property
    def is_found(self) -> bool:
        """Whether the largest size that fits is certain: the next ran out of memory, or a larger one did and the curve
        agrees."""
        low, high = self.bracket.low, self.bracket.high
        is_on_curve = self.curve is not None and self.curve.is_good and self.predicted == low
        return high is not None and (high == low + 1 or is_on_curve)


@dataclass(frozen=True, slots=True)
class MemoryQuestion:
    """One workload and pass under one limit: `rows` from the smallest size up, and by stack. `shown` are the dims that
    name a size. `tolerance` is that of a search, which ends when the smallest size that fails is larger than the
    largest that fits by at most this share; it is None without a search, when all stacks have the same sizes."""

    name: str
    axis: str
    shown: tuple[str, ...]
    rows: tuple[Row, ...]
    stacks: tuple[Capacity, ...]
    tolerance: float | None

    @property
    def limit(self) -> float | None:
        """Returns the memory limit in bytes; None where the machine's memory is the only limit."""
        return self.rows[0].number("limit_memory_bytes")

    def size(self, row: Row) -> str:
        """Returns `batch = 4`."""
        return dims_words({dim: row.case.dims[dim] for dim in self.shown})


def memory_of(analysis: Analysis) -> tuple[MemoryQuestion, ...]:
    return memory_questions(analysis.counted, analysis.search_tolerance, analysis.vary)


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


def question(_: str, name: str, rows: Sequence[Row], tolerance: float | None, grows: Set[str]) -> MemoryQuestion:
    growing = [dim for dim in rows[0].case.dims if dim in grows]
    varying = [dim for dim in growing if len({row.case.dims[dim] for row in rows}) > 1]
    axis = varying[0] if len(varying) == 1 else ""
    placed = sorted(rows, key=lambda row: ([row.case.dims[dim] for dim in growing], natural(row.stack_name)))
    by_stack = grouped(placed, lambda row: row.stack_name)
    stacks = tuple(Capacity(stack, axis, tuple(by_stack[stack])) for stack in sorted(by_stack, key=natural))
    shown = tuple(varying or growing)
    return MemoryQuestion(name, axis, shown, tuple(placed), stacks, tolerance if axis else None)
