"""A stack whose calls take exactly as long as a test says, on a clock that only they move."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from suite.stacks.base import Adapter
from suite.worker.events import Events

SECOND = 1_000_000_000


class Recorder(Events):
    """Events kept in memory."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []

    def write(self, event: str, **data: Any) -> None:
        self.events.append({"event": event, **data})


class Result:
    """An output whose life can be watched."""


class Scripted(Adapter):
    """Call n (from 0) dispatches in `dispatch(n)` seconds and is ready after `synced(n)` on `now`.

    `counters_at(n)` are the counters after n calls. What the contract promises to an adapter is asserted.
    """

    def __init__(
        self,
        synced: Callable[[int], float],
        dispatch: Callable[[int], float] = lambda n: 0.0,
        fetch_seconds: float = 0.0,
        train: bool = False,
        counters_at: Callable[[int], dict[str, float | None]] | None = None,
    ) -> None:
        self.of_synced, self.of_dispatch, self.fetch_seconds = synced, dispatch, fetch_seconds
        self.train, self.counters_at = train, counters_at
        self.ns = 0
        self.calls = 0
        self.ready_at = 0
        self.fetches: list[int] = []  # after how many calls
        self.waits: list[int] = []
        self.last: weakref.ref[Result] | None = None

    def now(self) -> int:
        """The clock, in ns."""
        return self.ns

    def step(self, state: Any, batch: Any) -> tuple[Any, Any]:
        assert state == self.calls, "the state isn't chained"
        assert not gc.isenabled(), "the collector may run inside a sample"
        n, self.calls = self.calls, self.calls + 1
        start = max(self.ns, self.ready_at)  # a device that works through a queue
        self.ready_at = start + round(self.of_synced(n) * SECOND)
        self.ns += round(self.of_dispatch(n) * SECOND)
        result = Result()
        self.last = weakref.ref(result)
        return state + 1, result

    def wait(self, state: Any, outputs: Any) -> None:
        assert outputs is not None and state == self.calls
        self.waits.append(self.calls)
        self.ns = max(self.ns, self.ready_at)

    def results(self, outputs: Any) -> np.ndarray[Any, Any]:
        assert isinstance(outputs, Result)
        self.fetches.append(self.calls)
        self.ns += round(self.fetch_seconds * SECOND)
        return np.float32(self.calls) * np.ones((), np.float32)

    def counters(self) -> dict[str, float | None]:
        return self.counters_at(self.calls) if self.counters_at else super().counters()

    def result_types(self, outputs: Any) -> dict[str, str]:
        return {}

    device = build = fetch = place = read = update = None  # type: ignore[assignment]


Scripted.__abstractmethods__ = frozenset()  # the loop needs no more of an adapter than this
