"""When a call blocks, and the classes, by time alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean, median
from typing import Any

CALLS = 128  # submitted without waiting
WINDOW = 8  # calls; their mean tells a full queue from one call whose thread had to wait for a core


def blocked_at(dispatched: Sequence[float], call: float) -> int | None:
    """The number, from 1, of the first call that blocked though nothing waited for its result: it and the calls after
    it, on average, took at least half as long as a call's work. None if no call blocked. A single long call doesn't
    count: another process may have caused it."""
    for place in range(len(dispatched) - WINDOW + 1):
        following = dispatched[place : place + WINDOW]
        if min(following[0], fmean(following)) >= call / 2:
            return place + 1
    return None


def classify(aspect: str, figures: Mapping[str, Any]) -> str:
    # The limits are far from all that was seen: a dispatch took all of a call's time or a few percent of it.
    completed = median(figures["completed_seconds"])
    if aspect == "dispatch":
        return "asynchronous" if median(figures["seconds"]) < completed / 3 else "synchronous"
    if aspect == "forgotten":
        return "flatters" if median(figures["reported_seconds"]) < completed / 3 else "honest"
    depth = blocked_at(figures["dispatch_seconds"], completed)
    if depth is None:
        return f"never blocked in {CALLS} calls"
    return "synchronous" if depth == 1 else "blocks at a depth"
