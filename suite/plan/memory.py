"""Orders memory processes, and finds those that needn't run because a smaller case has run out of memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set

from suite.case import GROWING, Case, Planned, bytes_text
from suite.errors import UserError
from suite.stacks.catalog import STACKS
from suite.units import quantity

NO_LIMIT = float("inf")  # the machine's memory is the only limit


def in_order(cases: Iterable[Planned]) -> list[Planned]:
    """Returns the cases, the smallest first, because a case that fails spares all larger ones. The stacks of one size
    stand together, the largest limit first."""

    def place(planned: Planned) -> tuple[object, ...]:
        case = planned.case
        growing = tuple(value for name, value in case.dims.items() if name in GROWING)
        return case.workload, case.pass_, case.precision, case.track, growing, -limit_of(case), case.stack_name

    return sorted(cases, key=place)


def needs_no_less(case: Case, other: Case, grows: Set[str]) -> bool:
    """Whether a case can't fit if the case `other` has failed: the cases are the same, except that this one's dims with
    which memory `grows` are no smaller and its limit is no larger."""
    grown = {name for name, value in case.dims.items() if value != other.dims.get(name)}
    return (
        case.digest("dims", "size", "limit_memory_bytes") == other.digest("dims", "size", "limit_memory_bytes")
        and grown <= grows
        and all(value >= other.dims.get(name, value) for name, value in case.dims.items())
        and limit_of(case) <= limit_of(other)
    )


def limit_of(case: Case) -> float:
    return NO_LIMIT if case.limit_memory_bytes is None else case.limit_memory_bytes


def check_limits(cases: Iterable[Planned], memory: Mapping[str, int], *, is_inside: bool = True) -> None:
    """Raises UserError for a limit above what `memory`, as `facts.memory` has it, allows: it would limit nothing. A
    limit on this program binds only processes that run inside of it, unlike containers."""
    most = max((planned.case.limit_memory_bytes or 0 for planned in cases), default=0)
    ram, allowed = memory.get("ram_bytes"), memory.get("memory_limit_bytes") if is_inside else None
    if most <= (allowed or ram or most):
        return
    bound = f"the {quantity(allowed)} that this program may use" if allowed else f"this machine's {quantity(ram)}"
    remedy = "; start it under a higher limit" if allowed else ""
    raise UserError(f"--limit-memory={bytes_text(most)} is more than {bound}: it would limit nothing{remedy}.")


def too_tight(cases: Iterable[Planned]) -> list[str]:
    """Returns a sentence for each stack that takes more than its limit before anything is placed. Only on a CPU: on an
    accelerator the limit is one of host memory, which isn't compared there."""
    sentences: dict[tuple[str, int | None], str] = {}
    for case in (planned.case for planned in cases if not planned.unsupported and planned.case.target == "cpu"):
        base = STACKS[case.stack].base_bytes
        if limit_of(case) < base:
            sentences[case.stack, case.limit_memory_bytes] = (
                f"{case.stack} takes about {quantity(base)} before anything is placed: under "
                f"{bytes_text(case.limit_memory_bytes or 0)} it can only run out of memory."
            )
    return [*sentences.values()]
