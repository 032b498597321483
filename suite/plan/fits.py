"""Which cases are too large to be tried, by the curves through the peaks that another set has seen."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from suite.case import Case, Planned
from suite.results.questions.capacity import MemoryQuestion
from suite.results.questions.curves import Curve
from suite.units import percent, quantity


@dataclass(frozen=True, slots=True)
class Fit:
    """A curve, the case that it was drawn for (at one of its sizes), and the dim that it goes along."""

    curve: Curve
    case: Case
    axis: str
    set_name: str

    def is_of(self, case: Case) -> bool:
        """Whether it says what a case needs at least: the same but for the dim that it goes along, and the limit. Where
        freed memory is kept, a case needs no less than by the C library's rules."""
        dims = dict(case.dims) | {self.axis: self.case.dims[self.axis]} if self.axis in case.dims else case.dims
        allocator = self.case.allocator if self.case.allocator == "system" else case.allocator
        same = replace(
            case, dims=dims, size=self.case.size, limit_memory_bytes=self.case.limit_memory_bytes, allocator=allocator
        )
        return same == self.case

    def reason(self, case: Case, spare_bytes: int) -> str | None:
        """Why a case can't fit, beyond the curve's own error; None where it may."""
        peak, limit = self.curve.at(case.dims[self.axis]), case.limit_memory_bytes or spare_bytes
        if peak * (1 - self.curve.error) <= limit:
            return None
        return (
            f"needs about {quantity(peak)}, by the curve through {self.curve.points} peaks of {self.set_name} "
            f"(largest error {percent(self.curve.error)}); the limit is {quantity(limit)}"
        )


def fits_of(questions: Iterable[MemoryQuestion], set_name: str) -> list[Fit]:
    """Every curve of a set that goes through what was seen, and has a peak more than it takes to draw it."""
    return [
        Fit(line.curve, next(row for row in line.rows if row is not None).case, question.axis, set_name)
        for question in questions
        for line in question.lines
        if line.curve and line.curve.is_good and line.curve.points > len(line.curve.coefficients)
    ]


def predicted(cases: Iterable[Planned], fits: Iterable[Fit], spare_bytes: int) -> tuple[Planned, ...]:
    """The cases, those with the reason that are too large."""
    known = list(fits)

    def reason(case: Case) -> str | None:
        return next((words for fit in known if fit.is_of(case) and (words := fit.reason(case, spare_bytes))), None)

    return tuple(replace(planned, too_large=reason(planned.case)) for planned in cases)
