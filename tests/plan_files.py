"""A plan as a run would write it, for tests that need no run."""

from __future__ import annotations

from typing import Any

from suite.protocol import Protocol
from suite.sets.plan import Plan, PlanFile

BARE: dict[str, Any] = {
    "set_id": "a-set",
    "cases": (),
    "protocol": Protocol(blocks=3, blocks_max=3),
    "baseline": "numpy",
    "twin": False,
    "seed": 0,
}


def plan_file(**changes: Any) -> PlanFile:
    """A PlanFile of no cases, but for what is given."""
    asked = {name: changes.pop(name) for name in Plan.__dataclass_fields__ if name in changes}
    plan = Plan(**BARE | asked)
    return PlanFile(
        **{
            "plan": plan,
            "created_at": "2026-03-01T12:30:00+00:00",
            "command": "invoke run",
            "target": "cpu",
            "engine": "local",
            "machine_id": "a-machine",
            "cores": (0, 1),
            "attempts": (),
        }
        | changes
    )
