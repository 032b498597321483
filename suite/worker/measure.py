"""THE timing loop: first, second, steady; dispatch, synced, pipelined, fetch. Every stack goes through it.

docs/methodology.md explains each clock. Garbage is collected before a phase and not during it; nothing
is written, printed or copied to the host inside a timed region.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter_ns as now
from typing import Any

import numpy as np

from suite.case import Flag
from suite.protocol import Protocol
from suite.stacks.base import Adapter
from suite.stats import steady_start
from suite.worker.cores import Cores
from suite.worker.events import Events
from suite.worker.samples import Taken, disturbed, enough

NS = 1e-9


@dataclass
class Measured:
    """What is left after the last sample: the chained state, the last result (output or loss) and the first losses."""

    state: Any
    result: np.ndarray[Any, np.dtype[np.float32]]
    losses: list[float] = field(default_factory=list)


class Clock:
    """Takes samples of one adapter's step, chaining its state."""

    def __init__(self, adapter: Adapter, state: Any, batch: Any) -> None:
        self.step, self.wait, self.fetch = adapter.step, adapter.wait, adapter.fetch
        self.state, self.batch = state, batch
        self.outputs: Any = None

    def synced(self) -> tuple[int, int]:
        """One sample in ns: (dispatch, synced), two readings of the same call."""
        step, wait, state, batch = self.step, self.wait, self.state, self.batch
        self.state = self.outputs = None  # the last result is freed outside the timed region
        start = now()
        state, outputs = step(state, batch)
        returned = now()
        wait(state, outputs)
        ready = now()
        self.state, self.outputs = state, outputs
        return returned - start, ready - start

    def pipelined(self, calls: int) -> float:
        """`calls` submitted steps and one wait, in ns per call."""
        step, wait, state, batch = self.step, self.wait, self.state, self.batch
        self.state = self.outputs = outputs = None
        start = now()
        for _ in range(calls):
            state, outputs = step(state, batch)
        wait(state, outputs)
        ready = now()
        self.state, self.outputs = state, outputs
        return (ready - start) / calls

    def fetched(self) -> int:
        """The synced step and the copy of its result to host memory, in ns."""
        step, wait, fetch, state, batch = self.step, self.wait, self.fetch, self.state, self.batch
        self.state = self.outputs = None
        start = now()
        state, outputs = step(state, batch)
        wait(state, outputs)
        copied = fetch(outputs)
        ready = now()
        del copied  # giving a large array back to the system takes about as long as copying it
        self.state, self.outputs = state, outputs
        return ready - start


@contextmanager
def quiet_collector() -> Iterator[None]:
    """Collect garbage now, none inside the block."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def settle() -> None:
    """Take what imports and compiling left out of later collections.

    A full one takes 20 ms (JAX) to 130 ms (TensorFlow) and goes through all caches: before each batch of
    samples, or before each sample of a slow step, that would be seconds of every case.
    """
    gc.collect()
    gc.freeze()


def measure(
    adapter: Adapter,
    state: Any,
    batch: Any,
    protocol: Protocol,
    events: Events,
    look: Callable[[Any], object] = id,
    cores: Cores | None = None,
) -> Measured:
    """All clocks of one case, written as events. The state passed in is consumed. `look` is shown it after the third
    step, between two samples; `cores` says what others did meanwhile."""
    cores = cores or Cores()
    settle()
    clock = Clock(adapter, state, batch)
    losses: list[float] = []
    before = adapter.counters()
    compiles = [count(before["compiles"])]
    for phase in ("first", "second"):
        events.phase(phase)
        with quiet_collector(), cores.watch() as stretch:
            _, synced = clock.synced()
        compiles.append(count(adapter.counters()["compiles"]))
        events.facts(
            **{
                f"{phase}_seconds": synced * NS,
                f"{phase}_others": stretch.others,
                f"compiles_{phase}": minus(compiles[-1], compiles[-2]),
            }
        )
        losses += loss_of(adapter, clock)

    events.phase("steady")
    settle()

    def after_third() -> None:
        losses.extend(loss_of(adapter, clock))
        look(clock.state)

    taken = steady(clock, cores, protocol, events, after_third)
    typical = taken.close(protocol, events)
    spent = sum(taken.seconds)
    for phase in ("pipelined", "fetch"):
        events.phase(phase)
        spent += side_clock(phase, clock, cores, protocol, events, typical, spent)
    result = adapter.fetch(clock.outputs)
    compiles.append(count(adapter.counters()["compiles"]))
    close(adapter.counters(), before, compiles, events)
    return Measured(clock.state, result, losses)


def steady(clock: Clock, cores: Cores, protocol: Protocol, events: Events, after_first: Callable[[], object]) -> Taken:
    """Synced samples until the stop rule holds, doubled once if they still drift, disturbed ones replaced."""
    taken = Taken()
    goal, doubled = 0, False
    while True:
        dispatch, synced, taken_ns = [], [], 0
        with quiet_collector(), cores.watch() as stretch:
            for _ in range(batch_limit(taken.seconds, protocol)):
                returned, ready = clock.synced()
                dispatch.append(returned * NS)
                synced.append(ready * NS)
                taken_ns += ready
                if taken_ns * NS >= protocol.batch_seconds:
                    break
        events.write("samples", clock="synced", synced_seconds=synced, dispatch_seconds=dispatch, others=stretch.others)
        if not taken.seconds:
            after_first()
        taken.add(synced, stretch)
        if len(taken.seconds) >= protocol.samples_max or sum(taken.seconds) >= protocol.seconds_max:
            return taken
        counted = taken.counted(protocol)
        if len(counted) < max(goal, 1) or not enough(counted, protocol):
            continue
        if doubled or steady_start(counted).state != "no_steady_state":
            return taken
        doubled, goal = True, 2 * len(counted)


def batch_limit(samples: list[float], protocol: Protocol) -> int:
    """The most samples until the next event: one at first, then as many as fill `batch_seconds`."""
    return max(1, protocol.samples_max - len(samples)) if samples else 1


def side_clock(
    name: str, clock: Clock, cores: Cores, protocol: Protocol, events: Events, typical: float, spent: float
) -> float:
    """The pipelined or fetch clock, within the budget that is left. Returns the seconds it took."""
    if typical > protocol.side_seconds_max or (name == "pipelined" and typical > protocol.pipelined_call_seconds_max):
        return 0.0
    calls = 1
    if name == "pipelined":
        calls = pipelined_calls(typical, protocol)
        events.facts(pipelined_calls=calls)
    wanted = protocol.side_samples if typical <= protocol.side_slow_seconds else protocol.side_samples_slow
    took = replaced = 0.0
    clean = 0
    while clean < wanted and replaced <= protocol.replaced_seconds_max and spent + took < protocol.seconds_max:
        seconds: list[float] = []
        with quiet_collector(), cores.watch() as stretch:
            for _ in range(max(1, min(wanted - clean, int(protocol.batch_seconds / (calls * typical))))):
                seconds.append((clock.pipelined(calls) if name == "pipelined" else clock.fetched()) * NS)
        events.write("samples", clock=name, others=stretch.others, **{f"{name}_seconds": seconds})
        took += sum(seconds) * calls
        if disturbed(stretch):
            replaced += sum(seconds) * calls
        else:
            clean += len(seconds)
    return took


def pipelined_calls(typical: float, protocol: Protocol) -> int:
    """The smallest power of two from the minimum on whose calls last long enough to time."""
    calls = protocol.pipelined_calls_min
    while calls * typical < protocol.pipelined_seconds_min and calls < protocol.pipelined_calls_max:
        calls *= 2
    return calls


def loss_of(adapter: Adapter, clock: Clock) -> list[float]:
    """The loss of the last step in the train pass, read outside the timed region."""
    return [float(adapter.fetch(clock.outputs))] if adapter.train else []


def count(value: float | None) -> int | None:
    """A counter as a whole number, None where the framework doesn't count."""
    return None if value is None else int(value)


def minus(after: int | None, before: int | None) -> int | None:
    """A difference of counts, unknown where either is."""
    return None if after is None or before is None else after - before


def close(
    after: dict[str, float | None], before: dict[str, float | None], compiles: list[int | None], events: Events
) -> None:
    """The counters' columns and the flags that they raise: no silent recompile, break or fallback."""
    steady_compiles = minus(compiles[-1], compiles[-2])
    graph_breaks = count(after["graph_breaks"])
    seconds = after["compile_seconds"]
    if seconds is not None:
        seconds -= before["compile_seconds"] or 0.0  # placing may have compiled: not the step's
    events.facts(compiles_steady=steady_compiles, compile_seconds=seconds, graph_breaks=graph_breaks)
    for raised, flag in (
        (steady_compiles, Flag.RECOMPILED),
        (graph_breaks, Flag.GRAPH_BREAKS),
        (after["fallback_ops"], Flag.FALLBACK_OPS),
    ):
        if raised:
            events.write("flag", flag=str(flag))


def prime(adapter: Adapter, state: Any, batch: Any, events: Events) -> None:
    """Two steps that fill the compile caches for the warm case of the same block; not a measurement."""
    clock = Clock(adapter, state, batch)
    for phase in ("first", "second"):
        events.phase(phase)
        _, synced = clock.synced()
        events.facts(**{f"{phase}_seconds": synced * NS})
