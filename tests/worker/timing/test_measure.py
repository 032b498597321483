"""The timing loop against a stack of known durations: on a clock of its own, then by sleeping."""

from __future__ import annotations

import dataclasses
import gc
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suite.protocol import Protocol
from suite.stats import steady_start
from suite.worker import process_memory
from suite.worker.timing import clock as clocks
from suite.worker.timing import measure
from suite.worker.timing.cores import Cores, Stretch
from tests.worker.processes import columns_of, flags_of, of
from tests.worker.scripted import Recorder, Scripted

PROTOCOL = Protocol()
QUICK = Protocol(seconds_min=0.5)
NOISE = np.random.default_rng(1).normal(size=4096).tolist()
Durations = Callable[[int], float]


def jitter(seconds: float, share: float = 0.01) -> Durations:
    """A call's duration with a little noise, the same for the same call."""
    return lambda n: seconds * (1 + share * NOISE[n % len(NOISE)])


class Neighbours(Cores):
    """Stretches of a second, in which others have the shares of a script over and over: 1.5 s of 2 cores are ours."""

    def __init__(self, others: list[float], kernel: float = 0.0, faults: int = 0) -> None:
        super().__init__(frozenset({0, 1}))
        self.others, self.kernel, self.faults = others, kernel, faults
        self.count = 0

    def now(self) -> float | None:
        """The share of the stretch that goes on."""
        return self.others[self.count % len(self.others)] if self.others else None

    @contextmanager
    def watch(self) -> Iterator[Stretch]:
        stretch = Stretch(1.0, 1.5, 1.5 * self.kernel, self.faults, self.now())
        yield stretch
        self.count += 1


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[Recorder, dict[str, Any], measure.TimedResult]]:
    """`run(adapter, protocol)`: measure on the adapter's own clock."""

    def run(adapter: Scripted, protocol: Protocol = PROTOCOL, cores: Cores | None = None) -> Any:
        monkeypatch.setattr(clocks, "now", adapter.now)
        monkeypatch.setattr(gc, "collect", lambda: 0)  # the test runner's many objects are no part of this
        recorder = Recorder()
        measured = measure.measure(adapter, 0, None, protocol, recorder, cores=cores or Neighbours([]))
        return recorder, columns_of(recorder.events), measured

    return run


# --- which duration is which ---


def test_each_clock_reads_what_it_says(run: Any) -> None:
    """First 3 s, second 1 s, then 20 ms of which 2 ms dispatch; 5 ms to fetch. No noise, no tolerance."""
    durations = {0: 3.0, 1: 1.0}
    adapter = Scripted(lambda n: durations.get(n, 0.020), lambda n: 0.002, fetch_seconds=0.005)
    recorder, columns, _ = run(adapter)
    assert columns["first_seconds"] == pytest.approx(3.0)
    assert columns["second_seconds"] == pytest.approx(1.0)
    assert columns["synced_seconds"] == pytest.approx([0.020] * len(columns["synced_seconds"]))
    assert columns["dispatch_seconds"] == pytest.approx([0.002] * len(columns["synced_seconds"]))
    assert columns["pipelined_calls"] == 4
    assert columns["pipelined_seconds"] == pytest.approx([0.020] * 10)
    assert columns["fetch_seconds"] == pytest.approx([0.025] * 10)
    assert [event["phase"] for event in of(recorder.events, "phase")] == [
        "first",
        "second",
        "third",
        "steady",
        "pipelined",
        "fetch",
    ]


def test_pipelined_hides_the_latency_of_dispatch(run: Any) -> None:
    """A queueing device: synced pays for both, the pipeline only for the longer."""
    adapter = Scripted(lambda n: 0.010, lambda n: 0.004)
    _, columns, _ = run(adapter)
    assert set(np.round(columns["synced_seconds"], 9)) == {0.010}
    waiting = Scripted(lambda n: 0.001, lambda n: 0.004)
    _, columns, _ = run(waiting)
    assert columns["pipelined_seconds"] == pytest.approx([0.004] * 10)


def test_the_pipeline_waits_once(run: Any) -> None:
    adapter = Scripted(lambda n: 0.001)
    _, columns, _ = run(adapter)
    steady = len(columns["synced_seconds"])
    assert columns["pipelined_calls"] == 16
    waits = [at - 2 - steady for at in adapter.waits[2 + steady :]]
    assert waits == [16 * (k + 1) for k in range(10)] + [160 + k for k in range(1, 11)]


def test_phases_are_written_before_they_begin(run: Any) -> None:
    calls: list[tuple[str, int]] = []
    adapter = Scripted(lambda n: 0.5)

    class Watching(Recorder):
        def write(self, event: str, **data: Any) -> None:
            if event == "phase":
                calls.append((data["phase"], adapter.calls))
            super().write(event, **data)

    clock, clocks.now = clocks.now, adapter.now
    try:
        measure.measure(adapter, 0, None, QUICK, Watching())
    finally:
        clocks.now = clock
    assert calls[:4] == [("first", 0), ("second", 1), ("third", 2), ("steady", 3)]


# --- the stop rule ---


@pytest.mark.parametrize("seconds", [1e-6, 1e-4, 1e-3, 0.02, 0.05, 0.067, 0.1, 0.4, 1.0, 1.9])
@pytest.mark.parametrize("protocol", [PROTOCOL, QUICK], ids=["ops", "quick"])
def test_the_stop_rule(run: Any, seconds: float, protocol: Protocol) -> None:
    """Both minima hold or a maximum is met, and not one batch more than needed was taken."""
    recorder, columns, _ = run(Scripted(jitter(seconds)), protocol)
    samples = columns["synced_seconds"]
    batches = [len(e["synced_seconds"]) for e in of(recorder.events, "samples") if e["clock"] == "synced"]
    assert len(samples) == sum(batches) == len(columns["dispatch_seconds"])
    assert len(samples) <= protocol.samples_max
    enough = len(samples) >= protocol.samples_min and sum(samples) >= protocol.seconds_min
    assert enough or len(samples) == protocol.samples_max or sum(samples) >= protocol.seconds_max
    before = samples[: len(samples) - batches[-1]]
    assert len(before) < protocol.samples_min or sum(before) < protocol.seconds_min
    assert "no_steady_state" not in flags_of(recorder.events)


def test_events_are_written_between_batches_of_a_quarter_second(run: Any) -> None:
    recorder, _, _ = run(Scripted(jitter(0.01)))
    batches = [e["synced_seconds"] for e in of(recorder.events, "samples") if e["clock"] == "synced"]
    assert len(batches[0]) == 1  # what the first sample tells sizes the next
    assert all(0.2 < sum(batch) < 0.3 for batch in batches[1:-1])


@pytest.mark.parametrize(("seconds", "count"), [(2.1, 5), (11.0, 5), (25.0, 3), (61.0, 1)])
def test_slow_calls_need_five_samples(run: Any, seconds: float, count: int) -> None:
    recorder, columns, _ = run(Scripted(lambda n: seconds))
    assert len(columns["synced_seconds"]) == count
    assert flags_of(recorder.events) == {"assumed"}


def test_one_slow_hiccup_does_not_end_the_measurement(run: Any) -> None:
    """It is the call that is slow or not, not its last sample."""
    _, columns, _ = run(Scripted(lambda n: 3.0 if n == 20 else 0.15))
    assert len(columns["synced_seconds"]) >= PROTOCOL.samples_min


def test_the_budget_is_for_all_clocks_together(run: Any) -> None:
    _, columns, _ = run(Scripted(jitter(1.9)))
    synced, pipelined, fetch = (columns.get(f"{c}_seconds", []) for c in ("synced", "pipelined", "fetch"))
    calls = columns["pipelined_calls"]
    spent = sum(synced) + calls * sum(pipelined) + sum(fetch)
    assert spent < PROTOCOL.seconds_max + calls * 2.0  # at most the sample that met the limit
    assert len(pipelined) == 1 and not fetch


def test_no_side_clock_without_budget(run: Any) -> None:
    _, columns, _ = run(Scripted(jitter(0.5, 0.4)), dataclasses.replace(PROTOCOL, seconds_max=10.0))
    assert columns.get("pipelined_seconds", []) == [] and columns.get("fetch_seconds", []) == []


@pytest.mark.parametrize(
    ("seconds", "calls", "pipelined", "fetch"),
    [
        (1e-5, 32, 10, 10),
        (3.2e-4, 32, 10, 10),
        (6.3e-4, 16, 10, 10),
        (2.6e-3, 4, 10, 10),
        (0.4, 4, 10, 10),
        (0.6, 4, 5, 5),
        (2.5, None, 0, 5),
        (5.5, None, 0, 0),
    ],
)
def test_side_clocks_take_fewer_samples_of_slow_calls(
    run: Any, seconds: float, calls: int | None, pipelined: int, fetch: int
) -> None:
    _, columns, _ = run(Scripted(lambda n: seconds))
    assert columns.get("pipelined_calls") == calls
    assert len(columns.get("pipelined_seconds", [])) == pipelined
    assert len(columns.get("fetch_seconds", [])) == fetch


@given(st.floats(1e-9, 10))
def test_pipelined_calls_is_the_smallest_power_of_two(seconds: float) -> None:
    calls = measure.pipelined_calls(seconds, PROTOCOL)
    assert calls in (4, 8, 16, 32)
    assert calls * seconds >= 0.010 or calls == 32
    assert calls == 4 or calls / 2 * seconds < 0.010


@pytest.mark.parametrize("seconds", [1e-6, 1e-4, 0.01, 0.3])
def test_no_more_samples_than_the_most_are_taken(run: Any, seconds: float) -> None:
    _, columns, _ = run(Scripted(jitter(seconds)), dataclasses.replace(PROTOCOL, samples_max=7))
    assert len(columns["synced_seconds"]) == 7


# --- neighbours ---


def shares(columns: dict[str, Any], clock: str = "synced") -> list[float | None]:
    """Of each sample, what others had of the cores."""
    return [
        share
        for event in columns["events"]
        if event["clock"] == clock
        for share in [event["others"]] * len(event[f"{clock}_seconds"])
    ]


@pytest.mark.parametrize("seconds", [2e-3, 0.05])
def test_samples_that_others_disturbed_are_kept_and_replaced(run: Any, seconds: float) -> None:
    """Every third batch takes three times as long, beside a neighbour."""
    neighbours = Neighbours([0.0, 0.0, 0.4])
    slow = Scripted(lambda n: seconds * (3 if neighbours.now() == 0.4 else 1))
    recorder, columns, _ = run(slow, PROTOCOL, neighbours)
    columns["events"] = of(recorder.events, "samples")
    clean = [s for s, share in zip(columns["synced_seconds"], shares(columns), strict=True) if not (share or 0) > 0.05]
    assert len(clean) < len(columns["synced_seconds"])
    assert len(clean) >= PROTOCOL.samples_min and sum(clean) >= PROTOCOL.seconds_min
    assert set(np.round(clean, 9)) == {seconds}
    assert flags_of(recorder.events) <= {"assumed"}
    pipelined = [
        s
        for s, share in zip(columns["pipelined_seconds"], shares(columns, "pipelined"), strict=True)
        if not (share or 0) > 0.05
    ]
    assert len(pipelined) >= 10


def test_a_neighbour_that_never_rests_ends_the_replacing(run: Any) -> None:
    recorder, columns, _ = run(Scripted(jitter(0.1)), PROTOCOL, Neighbours([0.5]))
    assert "disturbed" in flags_of(recorder.events)
    spent = sum(columns["synced_seconds"])
    assert PROTOCOL.replaced_seconds_max < spent < PROTOCOL.replaced_seconds_max + 1
    assert steady_start(columns["synced_seconds"]).state == "steady"


def test_without_a_budget_nothing_is_replaced(run: Any) -> None:
    protocol = dataclasses.replace(QUICK, replaced_seconds_max=0.0)
    recorder, columns, _ = run(Scripted(jitter(0.01)), protocol, Neighbours([0.5]))
    assert sum(columns["synced_seconds"]) < 1
    assert "disturbed" in flags_of(recorder.events)


def test_a_few_disturbed_samples_of_very_many_are_no_matter(run: Any) -> None:
    recorder, columns, _ = run(Scripted(jitter(1e-4)), PROTOCOL, Neighbours([0.0, *[0.5] * 2, *[0.0] * 99]))
    assert len(columns["synced_seconds"]) == PROTOCOL.samples_max
    assert "disturbed" not in flags_of(recorder.events)


def test_the_warm_up_ends_at_a_clean_sample(run: Any) -> None:
    """A slow start, of which the first half second was disturbed: what is cut is counted over all samples."""
    neighbours = Neighbours([0.5, 0.5, *[0.0] * 200])
    recorder, columns, _ = run(Scripted(lambda n: 0.02 if n > 60 else 0.03), PROTOCOL, neighbours)
    columns["events"] = of(recorder.events, "samples")
    assert shares(columns)[columns["synced_warmup"]] == 0.0
    assert set(np.round(columns["synced_seconds"][columns["synced_warmup"] :], 9)) == {0.02}


@pytest.mark.parametrize(
    ("kernel", "faults", "flagged"),
    [
        (0.5, 100_000, True),
        (0.5, 0, False),
        (0.04, 100_000, False),  # busy in the kernel without faults, or hardly
        (0.5, 8, False),  # a few pages, that can't be what keeps the kernel busy
        (0.5, 90, True),  # as many huge ones can, where a host has to find them
    ],
)
def test_pages_touched_anew_in_each_step_are_flagged(run: Any, kernel: float, faults: int, flagged: bool) -> None:
    recorder, columns, _ = run(Scripted(jitter(0.1)), PROTOCOL, Neighbours([0.0], kernel, faults))
    assert ("page_faults" in flags_of(recorder.events)) == flagged
    assert columns["kernel_share"] == pytest.approx(kernel)
    assert columns["effective_cores"] == pytest.approx(1.5)
    assert (columns["minor_faults_per_step"] > 1) == (faults > 0)


# --- drift ---


def test_drift_doubles_the_samples_once_then_is_flagged(run: Any) -> None:
    recorder, columns, _ = run(Scripted(lambda n: 0.02 * 1.01**n))
    samples = columns["synced_seconds"]
    batches = np.cumsum([len(e["synced_seconds"]) for e in of(recorder.events, "samples") if e["clock"] == "synced"])
    met = next(n for n in batches if n >= PROTOCOL.samples_min and sum(samples[:n]) >= PROTOCOL.seconds_min)
    stop = next(n for n in batches if n >= 2 * met)
    assert len(samples) == stop
    assert steady_start(samples).state == "no_steady_state"
    assert flags_of(recorder.events) == {"no_steady_state"}
    assert columns["synced_warmup"] == steady_start(samples).warmup


def test_drift_that_ends_is_dropped_and_not_flagged(run: Any) -> None:
    """At the first stop half of the samples are slow; of twice as many, a quarter."""
    slow = 17
    single = dataclasses.replace(QUICK, batch_seconds=0.0)  # every sample a batch of its own
    recorder, columns, _ = run(Scripted(lambda n: jitter(0.02)(n) * (3.0 if n < slow else 1.0)), single)
    assert not flags_of(recorder.events)
    assert len(columns["synced_seconds"]) == 2 * QUICK.samples_min
    assert slow - 4 <= columns["synced_warmup"] < len(columns["synced_seconds"]) / 2


def test_doubling_stays_within_the_budget(run: Any) -> None:
    recorder, columns, _ = run(Scripted(lambda n: 1.0 * 1.02**n))
    assert sum(columns["synced_seconds"]) < 60 + 1.02 ** len(columns["synced_seconds"])
    assert "no_steady_state" in flags_of(recorder.events)


def test_every_sample_is_kept(run: Any) -> None:
    durations = jitter(0.03, 0.2)
    _, columns, _ = run(Scripted(durations))
    samples = columns["synced_seconds"]
    assert samples == pytest.approx([durations(n + 2) for n in range(len(samples))], abs=1e-9)


# --- what an adapter is promised, and what is read from it ---


def test_the_last_result_is_gone_before_the_next_call(run: Any) -> None:
    alive: list[bool] = []

    class Watching(Scripted):
        def step(self, state: Any, batch: Any) -> tuple[Any, Any]:
            alive.append(self.last is not None and self.last() is not None)
            return super().step(state, batch)

    adapter = Watching(lambda n: 0.3)
    _, columns, _ = run(adapter)
    synced_and_fetched = alive[: 2 + len(columns["synced_seconds"])]
    assert not any(synced_and_fetched)


def test_the_collector_is_on_again_even_after_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    class Failing(Scripted):
        def wait(self, state: Any, outputs: Any) -> None:
            raise MemoryError("no more")

    with pytest.raises(MemoryError):
        measure.measure(Failing(lambda n: 0.0), 0, None, PROTOCOL, Recorder())
    assert gc.isenabled()


def test_train_reports_the_losses_of_its_first_three_steps(run: Any) -> None:
    adapter = Scripted(jitter(0.05), fetch_seconds=7.0, train=True)
    _, columns, measured = run(adapter)
    assert measured.losses == [1.0, 2.0, 3.0]
    assert adapter.fetches[:3] == [1, 2, 3]
    assert measured.result == np.float32(adapter.calls)
    assert max(columns["synced_seconds"]) < 1  # reading a loss is outside every sample


def test_the_state_is_shown_after_the_third_step_and_never_again() -> None:
    seen: list[int] = []
    adapter = Scripted(lambda n: 0.3, train=True)
    measure.measure(adapter, 0, None, PROTOCOL, Recorder(), seen.append)
    assert seen == [3] and adapter.calls > 3


def test_forward_hands_its_last_result_to_the_gate(run: Any) -> None:
    adapter = Scripted(jitter(0.05))
    _, _, measured = run(adapter)
    assert measured.losses == []
    assert measured.result == np.float32(adapter.calls)
    assert measured.state == adapter.calls


def counters(compiles: Callable[[int], float | None], **others: float | None) -> Callable[[int], dict[str, Any]]:
    """Counters after n calls."""
    return lambda n: {
        "compiles": compiles(n),
        "compile_seconds": None,
        "graph_breaks": None,
        "fallback_ops": None,
        **others,
    }


@pytest.mark.parametrize(
    ("compiles", "first", "second", "steady", "flags"),
    [
        (lambda n: [5, 7, 8][min(n, 2)], 2, 1, 0, set()),
        (lambda n: 1, 0, 0, 0, set()),
        (lambda n: min(n, 9), 1, 1, 7, {"recompiled"}),
        (lambda n: float(n >= 40), 0, 0, 1, {"recompiled"}),
        (lambda n: None, None, None, None, set()),
    ],
)
def test_compiles_are_counted_by_phase(
    run: Any, compiles: Any, first: int | None, second: int | None, steady: int | None, flags: set[str]
) -> None:
    recorder, columns, _ = run(Scripted(jitter(0.04), counters_at=counters(compiles)))
    found = [columns[f"compiles_{phase}"] for phase in ("first", "second", "steady")]
    assert found == [first, second, steady]
    assert all(value is None or isinstance(value, int) for value in found)
    assert flags_of(recorder.events) == flags


def test_a_compile_in_the_side_clocks_is_a_recompile_too(run: Any) -> None:
    adapter = Scripted(jitter(0.04))
    adapter.counters_at = counters(lambda n: float(len(adapter.waits) != adapter.calls))  # only the pipeline differs
    recorder, columns, _ = run(adapter)
    assert columns["compiles_steady"] == 1
    assert flags_of(recorder.events) == {"recompiled"}


@pytest.mark.parametrize(
    ("name", "value", "flags"),
    [
        ("graph_breaks", 2, {"graph_breaks"}),
        ("graph_breaks", 0, set()),
        ("graph_breaks", None, set()),
        ("fallback_ops", 3, {"fallback_ops"}),
        ("fallback_ops", 0, set()),
        ("fallback_ops", None, set()),
    ],
)
def test_breaks_and_fallbacks_are_flagged(run: Any, name: str, value: int | None, flags: set[str]) -> None:
    recorder, columns, _ = run(Scripted(jitter(0.04), counters_at=counters(lambda n: 0, **{name: value})))
    assert flags_of(recorder.events) == flags
    assert columns["graph_breaks"] == (value if name == "graph_breaks" else None)


def test_compiling_while_placing_is_not_the_step_s(run: Any) -> None:
    adapter = Scripted(jitter(0.04))
    adapter.counters_at = lambda n: counters(lambda n: 0, compile_seconds=4.0 + 2.0 * (n > 0))(n)
    _, columns, _ = run(adapter)
    assert columns["compile_seconds"] == 2.0


def test_a_prime_takes_two_steps_and_no_more() -> None:
    adapter, recorder = Scripted(lambda n: 1.0), Recorder()
    gc.disable()  # prime needn't
    try:
        measure.prime(adapter, 0, None, recorder)
    finally:
        gc.enable()
    assert adapter.calls == 2
    assert [e["phase"] for e in of(recorder.events, "phase")] == ["first", "second"]
    assert set(columns_of(recorder.events)) == {"first_seconds", "second_seconds"}


# --- with the real clock ---


class Span(NamedTuple):
    """Of the clock, in seconds."""

    begun: float
    ended: float


class Sleeper(Scripted):
    """Sleeps in `step` and in `wait`, and looks at the clock itself."""

    def __init__(self, *durations: Durations) -> None:
        super().__init__(*durations)
        self.steps: list[Span] = []
        self.waits_seen: list[Span] = []

    def step(self, state: Any, batch: Any) -> tuple[Any, Any]:
        begun = time.perf_counter()
        time.sleep(self.of_dispatch(self.calls))
        self.due = self.of_synced(self.calls) - self.of_dispatch(self.calls)
        told = super().step(state, batch)
        self.steps.append(Span(begun, time.perf_counter()))
        return told

    def wait(self, state: Any, outputs: Any) -> None:
        begun = time.perf_counter()
        time.sleep(self.due)
        super().wait(state, outputs)
        self.waits_seen.append(Span(begun, time.perf_counter()))


def test_known_sleeps_come_back_as_set() -> None:
    durations = {0: 0.08, 1: 0.03}
    adapter = Sleeper(lambda n: durations.get(n, 0.005), lambda n: 0.002)
    recorder = Recorder()
    protocol = Protocol(samples_min=20, seconds_min=0.1, side_samples=3)
    start = time.perf_counter()
    measure.measure(adapter, 0, None, protocol, recorder)
    columns = columns_of(recorder.events)
    synced = [columns["first_seconds"], columns["second_seconds"], *columns["synced_seconds"]]
    assert synced[0] >= 0.08 and synced[1] >= 0.03
    assert all(sample >= 0.005 for sample in synced)
    assert all(sample >= 0.002 for sample in columns["dispatch_seconds"])
    # However long the machine has let a call wait: its sample holds the call, and nothing of the calls beside it.
    steps, waits = adapter.steps, adapter.waits_seen
    for n, sample in enumerate(synced):
        assert waits[n].ended - steps[n].begun <= sample <= steps[n + 1].begun - (waits[n - 1].ended if n else start)
    for n, sample in enumerate(columns["dispatch_seconds"], start=2):
        assert steps[n].ended - steps[n].begun <= sample <= waits[n].begun - waits[n - 1].ended
    assert columns["pipelined_calls"] == 4
    assert all(sample >= 0.002 for sample in columns["pipelined_seconds"])
    assert all(sample >= 0.005 for sample in columns["fetch_seconds"])


def test_a_copy_to_the_host_is_freed_outside_its_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    """Returning memory to the system costs as much as a small copy: it isn't part of fetching."""
    adapter = Scripted(lambda n: 0.01)
    freed: list[bool] = []

    class Copy:
        def __del__(self) -> None:
            freed.append(timing[0])

    timing = [False]

    def now() -> int:
        timing[0] = not timing[0]
        return adapter.ns

    monkeypatch.setattr(clocks, "now", now)
    clock = clocks.Clock(adapter, 0, None)
    monkeypatch.setattr(clock, "fetch", lambda outputs: Copy())
    gc.disable()
    try:
        clock.fetched()
    finally:
        gc.enable()
    assert freed == [False]


def test_what_a_settled_cycle_holds_is_given_back_before_the_gate() -> None:
    """Moments of a 1.3 billion parameter model are 10 GB: they can't be there twice."""

    class Optimizer:
        pass

    optimizer = Optimizer()
    optimizer.itself = optimizer  # type: ignore[attr-defined]
    held = weakref.ref(optimizer)
    clocks.settle()
    del optimizer
    gc.collect()
    assert held() is not None, "frozen"
    process_memory.release()
    assert held() is None
