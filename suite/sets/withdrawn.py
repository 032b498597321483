"""Readings of published sets that are known to be wrong. A set stays as it was measured; what reads it leaves these out
and says why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

TICKS = "Linux books threads' time at ticks up to 10 ms apart, too coarse for one product of 7 ms"
SHARES = {"20261128-235901-quick-cpu-1f25": TICKS, "20261128-204738-quick-cpu-403b": TICKS}  # reasons, by set


def corrected(set_id: str, ceilings: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Returns a set's readings of the f32 ceiling, with the reason in place of a share of the cores' time that is
    withdrawn."""
    reason = SHARES.get(set_id)
    return [
        {name: value for name, value in reading.items() if not reason or name != "cores_had"}
        | ({"withdrawn": reason} if reason and "cores_had" in reading else {})
        for reading in ceilings
    ]
