"""In which order memory is asked about, and what needn't be asked: what is larger than a case that ran out of it."""

from __future__ import annotations

from collections.abc import Iterable

from suite.case import GROWING, Case, Planned, bytes_text
from suite.errors import UserError
from suite.stacks.catalog import STACKS
from suite.units import quantity

MACHINE = float("inf")  # where nothing but the machine limits


def in_order(cases: Iterable[Planned]) -> list[Planned]:
    """Smallest first, so that a failure spares what is larger; the stacks of one size together, largest limit first."""

    def place(planned: Planned) -> tuple[object, ...]:
        case = planned.case
        growing = tuple(value for name, value in case.dims.items() if name in GROWING)
        return case.workload, case.pass_, case.precision, case.track, growing, -limit_of(case), case.stack_name

    return sorted(cases, key=place)


def needs_no_less(case: Case, other: Case) -> bool:
    """Whether a case can't fit where another one failed: the same but for dims that are no smaller and a limit that is
    no larger."""
    grown = {name for name, value in case.dims.items() if value != other.dims.get(name)}
    return (
        case.digest("dims", "size", "limit_memory_bytes") == other.digest("dims", "size", "limit_memory_bytes")
        and grown <= GROWING
        and all(value >= other.dims.get(name, value) for name, value in case.dims.items())
        and limit_of(case) <= limit_of(other)
    )


def limit_of(case: Case) -> float:
    """A case's limit in bytes."""
    return MACHINE if case.limit_memory_bytes is None else case.limit_memory_bytes


def check_limits(cases: Iterable[Planned], ram_bytes: int) -> None:
    """Raises UserError for a limit that limits nothing."""
    most = max((planned.case.limit_memory_bytes or 0 for planned in cases), default=0)
    if most > ram_bytes > 0:
        raise UserError(
            f"--limit-memory={bytes_text(most)} is more than this machine's {quantity(ram_bytes)}: it "
            "would limit nothing."
        )


def too_tight(cases: Iterable[Planned]) -> list[str]:
    """Which stacks take more than their limit before anything is placed, a sentence each. On a CPU: elsewhere the
    limit is of the host alone, which is nobody's question."""
    found: dict[str, str] = {}
    for case in (planned.case for planned in cases if not planned.unsupported and planned.case.target == "cpu"):
        base = STACKS[case.stack].base_bytes
        if limit_of(case) < base:
            found[f"{case.stack} {case.limit_memory_bytes}"] = (
                f"{case.stack} takes about {quantity(base)} before anything is placed: under "
                f"{bytes_text(case.limit_memory_bytes or 0)} it can only run out of memory."
            )
    return [*found.values()]
