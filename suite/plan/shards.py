"""A plan shared out among machines. A comparison stays on one: a ratio of two machines' times means nothing."""

from __future__ import annotations

import dataclasses
import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass

from suite.case import Case, Planned, Purpose, canonical_json
from suite.errors import UserError
from suite.plan.plan import Plan


@dataclass(frozen=True, slots=True)
class Shard:
    """The share of one machine of several, counted from 1."""

    index: int
    of: int

    def __str__(self) -> str:
        return f"{self.index}/{self.of}"

    @classmethod
    def parse(cls, text: str) -> Shard:
        """`2/4`. Raises UserError for anything else."""
        found = re.fullmatch(r"([1-9]\d*)/([1-9]\d*)", text)
        if not found or int(found[1]) > int(found[2]):
            raise UserError(f"--shard={text} isn't understood: the second of four machines is --shard=2/4.")
        return cls(int(found[1]), int(found[2]))


def share(plan: Plan, shard: Shard) -> Plan:
    """What one machine does of a plan: every `of`-th of its units, which each machine finds the same way.

    Raises UserError where there are fewer units than machines.
    """
    found = units(plan)
    if shard.of > len(found):
        raise UserError(
            f"This plan can be shared among {len(found)} machine(s) at most, not {shard.of}: what is "
            "compared stays on one."
        )
    mine = tuple(planned for unit in found[shard.index - 1 :: shard.of] for planned in unit)
    return dataclasses.replace(plan, cases=mine, shard=str(shard), whole=digest(plan))


def units(plan: Plan) -> list[tuple[Planned, ...]]:
    """The cases that must stay together: those of one comparison; of memory, those whose peaks make one curve and whose
    failures tell of each other. In an order that doesn't depend on how the question was typed."""
    found: dict[str, list[Planned]] = {}
    for planned in plan.cases:
        found.setdefault(unit_of(planned.case, plan.purpose), []).append(planned)
    return [tuple(found[unit]) for unit in sorted(found)]


def unit_of(case: Case, purpose: Purpose) -> str:
    """What the cases of one unit share."""
    if purpose is Purpose.MEMORY:
        return case.digest("stack", "variant", "size", "dims", "limit_memory_bytes")
    return case.comparison_id


def digest(plan: Plan) -> str:
    """What a whole plan asks, and how it is measured: the shards of one have it in common."""
    asked = {
        "cases": case_ids(plan.cases),
        "protocol": dataclasses.asdict(plan.protocol),
        "baseline": plan.baseline,
        "twin": plan.twin,
        "seed": plan.seed,
        "purpose": str(plan.purpose),
        "exhaustive": plan.exhaustive,
        "vary": plan.vary,
    }
    return hashlib.sha256(canonical_json(asked).encode()).hexdigest()


def case_ids(cases: Iterable[Planned]) -> list[str]:
    """In an order of their own."""
    return sorted(planned.case.case_id for planned in cases)
