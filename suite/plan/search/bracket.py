"""The range in which a limit lies, by the values that were tried: the largest that holds, the smallest that doesn't.
And the largest value that a workload allows, beyond which none can be tried."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from suite.case import Case
from suite.errors import UserError
from suite.plan.search.curves import SIZE_MAX, last_size
from suite.workloads import catalog
from suite.workloads.catalog import Workload


@dataclass(frozen=True, slots=True)
class Bracket:
    """`low` is the largest value that is known to hold, 0 if none is; `high` the smallest that is known not to hold,
    None if none is."""

    low: int = 0
    high: int | None = None

    @classmethod
    def of(cls, holds: Mapping[int, bool]) -> Bracket:
        """Returns the bracket of the values that were tried, {value: whether it holds}."""
        return cls(
            max((value for value, held in holds.items() if held), default=0),
            min((value for value, held in holds.items() if not held), default=None),
        )

    def is_closed(self, tolerance: float = 0.0) -> bool:
        """Whether no value is left to try: `high` is `low` + 1, or above `low` by at most the share `tolerance`."""
        return self.high is not None and self.high - self.low <= max(1, tolerance * self.low)


def most_allowed(workload: Workload, dims: Mapping[str, int], axis: str) -> int:
    """Returns the largest size up to `SIZE_MAX` that a workload's rules allow. Assumes that every smaller size is
    allowed too."""
    return last_size(lambda size: is_allowed(workload, dims, axis, size))


def is_allowed(workload: Workload, dims: Mapping[str, int], axis: str, size: int) -> bool:
    """Whether the workload allows these dims with `axis` at this size."""
    try:
        workload.dims(next(iter(workload.sizes)), dict(dims) | {axis: size})
    except UserError:
        return False
    return True


def is_most(case: Case, axis: str) -> bool:
    """Whether the case's workload allows no larger value of `axis`. False for a workload from outside the suite, whose
    rules aren't known here."""
    workload = catalog.find().get(case.workload)
    return workload is not None and most_allowed(workload, case.dims, axis) == case.dims[axis]


def none_larger(largest: Case, axis: str) -> str:
    """Returns why no value of `axis` was tried above that of `largest`, the largest case that fits."""
    value = largest.dims[axis]
    if value >= SIZE_MAX:
        return f"none: the search ends at {SIZE_MAX:,}"
    return f"none: the workload allows no {axis} above {value:,}" if is_most(largest, axis) else "none tried"
