"""The clock of the timing loop: readings of one adapter's step, in ns."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter_ns as now
from typing import Any

from suite.stacks.base import Adapter

NS = 1e-9


class Clock:
    """Takes samples of one adapter's step. Each step gets the state that the step before it returned."""

    def __init__(self, adapter: Adapter, state: Any, batch: Any) -> None:
        self.step, self.wait, self.fetch = adapter.step, adapter.wait, adapter.results
        self.state, self.batch = state, batch
        self.steps = 0  # taken so far
        self.outputs: Any = None

    def synced(self) -> tuple[int, int]:
        """Takes one sample: (dispatch, synced) in ns, two readings of the same call."""
        step, wait, state, batch = self.step, self.wait, self.state, self.batch
        self.state = self.outputs = None  # the last result is freed outside the timed region
        start = now()
        state, outputs = step(state, batch)
        returned = now()
        wait(state, outputs)
        ready = now()
        self.state, self.outputs = state, outputs
        self.steps += 1
        return returned - start, ready - start

    def pipelined(self, calls: int) -> float:
        """Submits `calls` steps and waits once; returns ns per call."""
        step, wait, state, batch = self.step, self.wait, self.state, self.batch
        self.state = self.outputs = outputs = None
        start = now()
        for _ in range(calls):
            state, outputs = step(state, batch)
        wait(state, outputs)
        ready = now()
        self.state, self.outputs = state, outputs
        self.steps += calls
        return (ready - start) / calls

    def fetched(self) -> int:
        """Takes one synced step with the copy of its result to host memory, in ns."""
        step, wait, fetch, state, batch = self.step, self.wait, self.fetch, self.state, self.batch
        self.state = self.outputs = None
        start = now()
        state, outputs = step(state, batch)
        wait(state, outputs)
        copied = fetch(outputs)
        ready = now()
        del copied  # giving a large array back to the system takes about as long as copying it
        self.state, self.outputs = state, outputs
        self.steps += 1
        return ready - start


@contextmanager
def quiet_collector() -> Iterator[None]:
    """Collects garbage now and none inside the `with` block."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def settle() -> None:
    """Exempts the objects that imports and compiling left from later garbage collections.

    A full collection takes 20 ms (JAX) to 130 ms (TensorFlow) and walks through all caches. There is one before each
    batch of samples, which would add up to seconds in every case.
    """
    gc.collect()
    gc.freeze()
