"""Decides which cases are too large to be tried. It uses curves through the memory peaks of another set."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from suite.case import Case, Planned
from suite.plan.search.capacity import MemoryQuestion
from suite.plan.search.curves import MemoryCurve
from suite.units import percent, quantity


@dataclass(frozen=True, slots=True)
class Fit:
    """A curve of memory peaks along a dim (`axis`), one of the cases through whose peaks it goes, and the name of the
    set that measured them."""

    curve: MemoryCurve
    case: Case
    axis: str
    set_name: str

    def is_of(self, case: Case) -> bool:
        """Whether the curve gives the least memory that a case needs: the case and the curve's cases differ only in the
        curve's dim and in the limit. A curve of the allocator `system` also holds for a case that keeps freed memory,
        because such a case needs no less."""
        dims = dict(case.dims) | {self.axis: self.case.dims[self.axis]} if self.axis in case.dims else case.dims
        allocator = self.case.allocator if self.case.allocator == "system" else case.allocator
        same = replace(
            case, dims=dims, size=self.case.size, limit_memory_bytes=self.case.limit_memory_bytes, allocator=allocator
        )
        return same == self.case

    def reason(self, case: Case, spare_bytes: int) -> str | None:
        """Returns why a case can't fit, even if the curve errs by its largest error; None if the case may fit."""
        peak, limit = self.curve.at(case.dims[self.axis]), case.limit_memory_bytes or spare_bytes
        if peak * (1 - self.curve.error) <= limit:
            return None
        return (
            f"needs about {quantity(peak)}, by the curve through {self.curve.points} peaks of {self.set_name} "
            f"(largest error {percent(self.curve.error)}); the limit is {quantity(limit)}"
        )


def fits_of(questions: Iterable[MemoryQuestion], set_name: str) -> list[Fit]:
    """Returns the curves of a set that can be trusted: close to the peaks, with more of them than coefficients."""
    return [
        Fit(stack.curve, stack.rows[0].case, question.axis, set_name)
        for question in questions
        for stack in question.stacks
        if stack.curve and stack.curve.is_good and stack.curve.points > len(stack.curve.coefficients)
    ]


def predicted(cases: Iterable[Planned], fits: Iterable[Fit], spare_bytes: int) -> tuple[Planned, ...]:
    """Returns the cases, each with the reason if it is too large. `spare_bytes` is the limit for cases that have none
    of their own."""
    curves = list(fits)

    def reason(case: Case) -> str | None:
        return next((words for fit in curves if fit.is_of(case) and (words := fit.reason(case, spare_bytes))), None)

    return tuple(replace(planned, too_large=reason(planned.case)) for planned in cases)
