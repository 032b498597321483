"""A plan as a run would write it, for tests that need no run."""

from __future__ import annotations

from typing import Any

from suite.protocol import Protocol
from suite.results.store.plan_file import PlanFile


def plan_file(**changes: Any) -> PlanFile:
    """A PlanFile of no cases, but for what is given."""
    return PlanFile(
        **{
            "set_id": "a-set",
            "created_at": "2026-03-01T12:30:00+00:00",
            "command": "invoke run",
            "target": "cpu",
            "engine": "local",
            "protocol": Protocol(blocks=3, blocks_max=3),
            "baseline": "numpy",
            "twin": False,
            "seed": 0,
            "machine_id": "a-machine",
            "cores": (0, 1),
            "cases": (),
            "attempts": (),
        }
        | changes
    )
