"""Divides a plan among machines. A comparison stays on one machine, because a ratio of two machines' times means
nothing."""

from __future__ import annotations

import dataclasses
import hashlib
import re
from dataclasses import dataclass

from suite.case import Case, Planned, Purpose, canonical_json
from suite.errors import UserError
from suite.sets.plan import Plan


@dataclass(frozen=True, slots=True)
class Shard:
    """One share of a plan: its number, counted from 1, and the number of shares."""

    index: int
    of: int

    def __str__(self) -> str:
        return f"{self.index}/{self.of}"

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Returns the shard of a text like `2/4`. Raises UserError for any other text."""
        numbers = re.fullmatch(r"([1-9]\d*)/([1-9]\d*)", text)
        if not numbers or int(numbers[1]) > int(numbers[2]):
            raise UserError(f"--shard={text} isn't understood: the second of four machines is --shard=2/4.")
        return cls(int(numbers[1]), int(numbers[2]))


def share(plan: Plan, shard: Shard) -> Plan:
    """Returns one machine's share of a plan: every `of`-th unit from the `index`-th on, in an order that is the same on
    every machine.

    Raises UserError if there are fewer units than machines.
    """
    parts = units(plan)
    if shard.of > len(parts):
        raise UserError(
            f"This plan can be shared among {len(parts)} machine(s) at most, not {shard.of}: cases that are "
            "compared stay on one."
        )
    cases = tuple(planned for unit in parts[shard.index - 1 :: shard.of] for planned in unit)
    return dataclasses.replace(plan, cases=cases, shard=str(shard), whole=digest(plan))


def units(plan: Plan) -> list[tuple[Planned, ...]]:
    """Returns the cases in groups, each of which must stay on one machine. A group is a comparison. In a run for memory
    it is the cases whose peaks make one curve: if one of them fails, larger ones aren't tried. The order of the groups
    doesn't depend on the order of the options."""
    groups: dict[str, list[Planned]] = {}
    for planned in plan.cases:
        groups.setdefault(unit_of(planned.case, plan.purpose), []).append(planned)
    return [tuple(groups[unit]) for unit in sorted(groups)]


def unit_of(case: Case, purpose: Purpose) -> str:
    if purpose is Purpose.MEMORY:
        return case.digest("stack", "variant", "size", "dims", "limit_memory_bytes")
    return case.comparison_id


def digest(plan: Plan) -> str:
    """Returns a sha256 of a whole plan's cases and of how it measures them. All shards of a plan hold it."""
    content = {
        "cases": sorted(planned.case.case_id for planned in plan.cases),
        "protocol": dataclasses.asdict(plan.protocol),
        "baseline": plan.baseline,
        "twin": plan.twin,
        "seed": plan.seed,
        "purpose": str(plan.purpose),
        "exhaustive": plan.exhaustive,
        "vary": plan.vary,
    }
    return hashlib.sha256(canonical_json(content).encode()).hexdigest()
