"""The one timing loop, for every stack: first call, second call, steady state; dispatch, synced, pipelined, fetch.

docs/why/method.md explains each clock. Garbage is collected before each batch of samples and not during it. Nothing is
written, printed or copied to the host inside a timed region (except by the fetch clock, which times the copy).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from suite.case import CLOCK, LEAD_IN, Flag
from suite.protocol import Protocol
from suite.stacks.base import Adapter
from suite.stats import steady_start
from suite.worker.events import Events
from suite.worker.timing.clock import NS, Clock, quiet_collector, settle
from suite.worker.timing.cores import Cores, Stretch
from suite.worker.timing.samples import SamplesInRounds, SyncedSamples, disturbed, enough, leading, warm
from suite.worker.timing.turns import Turns


@dataclass
class TimedResult:
    """What the timed steps leave: the state after all `steps`, the last result (the loss, or a tree of outputs) with
    the types of its leaves, and the first losses."""

    state: Any
    steps: int
    result: Any
    losses: list[float] = field(default_factory=list)
    types: dict[str, str] = field(default_factory=dict)


def measure(
    adapter: Adapter,
    state: Any,
    batch: Any,
    protocol: Protocol,
    events: Events,
    look: Callable[[Any], object] = id,
    cores: Cores | None = None,
    turns: Turns | None = None,
) -> TimedResult:
    """Takes the samples of all clocks of one case and writes them as events. The state passed in is consumed. `look` is
    called with the state after the third step, between two samples; `cores` reads how much processor time other
    processes took; `turns` says when it is this process's turn."""
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
        settle()  # before the next phase begins, whose time is held against its call's

    events.phase("third")

    def after_third() -> None:
        losses.extend(loss_of(adapter, clock))
        look(clock.state)
        events.phase("steady")  # not before: nothing but taking samples takes time from here on

    taken = steady(clock, cores, protocol, events, enough if turns is None else warm, after_third)
    if turns is None:
        events.facts(sampling="alone")
    else:
        taken = in_rounds(clock, cores, protocol, events, turns, taken)
    typical = taken.close(protocol, events)
    spent = taken.spent
    for phase in ("pipelined", "fetch"):
        events.phase(phase)
        spent += side_clock(phase, clock, cores, protocol, events, typical, spent)
    result, types = adapter.results(clock.outputs), adapter.result_types(clock.outputs)
    compiles.append(count(adapter.counters()["compiles"]))
    close(adapter.counters(), before, compiles, events)
    return TimedResult(clock.state, clock.steps, result, losses, types)


def take(
    clock: Clock, cores: Cores, protocol: Protocol, events: Events, most: int, round_: int = 0
) -> tuple[list[float], Stretch]:
    """Takes a batch of synced samples, which is a turn if processes take turns: at least one, at most `most`, and none
    after `batch_seconds`. In a turn of three or more samples the first doesn't count, because it finds the processor's
    caches as another process has left them."""
    dispatch, synced, taken_ns = [], [], 0
    with quiet_collector(), cores.watch() as stretch:
        for _ in range(most):
            returned, ready = clock.synced()
            dispatch.append(returned * NS)
            synced.append(ready * NS)
            taken_ns += ready
            if taken_ns * NS >= protocol.batch_seconds:
                break
    of_round = {"round": round_, "leading": leading(synced)} if round_ else {}
    events.write(
        "samples", clock="synced", synced_seconds=synced, dispatch_seconds=dispatch, others=stretch.others, **of_round
    )
    return synced, stretch


def in_rounds(
    clock: Clock, cores: Cores, protocol: Protocol, events: Events, turns: Turns, alone: SyncedSamples
) -> SyncedSamples:
    """Takes synced samples, a batch in each turn, for as long as the orchestrator orders turns. The samples that were
    taken `alone` before are warm-up. If the orchestrator orders the process to stay alone, they count, and more are
    added to them."""
    taken = SamplesInRounds.after(alone, protocol)
    most = max(1, protocol.samples_max // protocol.turns_max)
    lead_ins: list[float] = []
    while True:
        events.phase("hold")
        order = turns.hold(taken.asks_for(protocol))
        events.phase("steady")
        if not order:
            events.facts(sampling="alone" if order is None else "rounds", **turns.columns())
            events.write("metric", name=LEAD_IN, unit="s", kind=CLOCK, values=[*lead_ins, turns.resting_seconds])
        if order is None:
            return steady(clock, cores, protocol, events, enough, lambda: None, alone)
        if not order:
            return taken if taken.seconds else alone
        lead_ins.append(lead_in(clock, protocol.batch_seconds - most * median(alone.seconds[-most:])))
        taken.add(*take(clock, cores, protocol, events, most, order))


def lead_in(clock: Clock, seconds: float) -> float:
    """Makes calls that don't count. Returns the seconds that they took. A turn lasts `batch_seconds` in any case, and
    of many short calls only the last are samples: when a process goes on after a hold, the kernel may need 70 ms to
    spread its threads over the cores again (seen: 116 µs a call of JAX in turns of 29 ms, and 69 µs in a process of its
    own)."""
    spent_ns = 0
    with quiet_collector():
        while spent_ns * NS < seconds:
            spent_ns += clock.synced()[1]
    return spent_ns * NS


def steady(
    clock: Clock,
    cores: Cores,
    protocol: Protocol,
    events: Events,
    is_enough: Callable[[list[float], Protocol], bool],
    after_first: Callable[[], object],
    taken: SyncedSamples | None = None,
) -> SyncedSamples:
    """Takes synced samples until the stop rule holds, and adds them to those `taken` before, if any. Disturbed samples
    are replaced, and the number of samples is doubled once if they still drift."""
    taken = taken or SyncedSamples()
    goal, doubled = 0, False
    while True:
        synced, stretch = take(clock, cores, protocol, events, batch_limit(taken.seconds, protocol))
        if not taken.seconds:
            after_first()
        taken.add(synced, stretch)
        if len(taken.seconds) >= protocol.samples_max or sum(taken.seconds) >= protocol.seconds_max:
            return taken
        counted = taken.counted(protocol)
        if len(counted) < max(goal, 1) or not is_enough(counted, protocol):
            continue
        if doubled or steady_start(counted).state != "no_steady_state":
            return taken
        doubled, goal = True, 2 * len(counted)


def batch_limit(samples: list[float], protocol: Protocol) -> int:
    """Returns the most samples that the next batch may have: one at first, then as many as are still allowed."""
    return max(1, protocol.samples_max - len(samples)) if samples else 1


def side_clock(
    name: str, clock: Clock, cores: Cores, protocol: Protocol, events: Events, typical: float, spent: float
) -> float:
    """Takes the samples of the pipelined or fetch clock within the seconds that are left. Returns the seconds that they
    took."""
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
    """Returns how many calls are timed together: the minimum, doubled until the calls last long enough to time."""
    calls = protocol.pipelined_calls_min
    while calls * typical < protocol.pipelined_seconds_min and calls < protocol.pipelined_calls_max:
        calls *= 2
    return calls


def loss_of(adapter: Adapter, clock: Clock) -> list[float]:
    """Returns the loss of the last step, read outside the timed region; an empty list in the forward pass."""
    return [float(adapter.results(clock.outputs))] if adapter.train else []


def count(value: float | None) -> int | None:
    """Returns a counter as a whole number; None where the framework doesn't count."""
    return None if value is None else int(value)


def minus(after: int | None, before: int | None) -> int | None:
    """Returns after - before; None where either is unknown."""
    return None if after is None or before is None else after - before


def close(
    after: dict[str, float | None], before: dict[str, float | None], compiles: list[int | None], events: Events
) -> None:
    """Writes the counters' columns, and a flag for each recompile, graph break or fallback in the steady phase."""
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
    """Runs two steps that fill the compile caches for the warm case of the same block. Not a measurement."""
    clock = Clock(adapter, state, batch)
    for phase in ("first", "second"):
        events.phase(phase)
        _, synced = clock.synced()
        events.facts(**{f"{phase}_seconds": synced * NS})
