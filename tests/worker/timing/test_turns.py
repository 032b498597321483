"""Turns: what a process samples when it is told to, and how it holds in between."""

from __future__ import annotations

import dataclasses
import gc
import math
import multiprocessing
import os
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from suite.protocol import ALONE, ENOUGH, FULL, MORE, REST, TURNS_VARIABLE, Protocol
from suite.worker.timing import clock, measure, turns
from suite.worker.timing.cores import Stretch
from suite.worker.timing.samples import SamplesInRounds, SyncedSamples
from suite.worker.timing.turns import Turns
from tests.launch.programs import HUNG_SECONDS
from tests.worker.processes import columns_of, flags_of, of
from tests.worker.scripted import Recorder, Scripted
from tests.worker.timing.test_measure import Neighbours, jitter

PROTOCOL = Protocol()


class Ordered(Turns):
    """Gets its orders from a script in place of a pipe, and keeps its answers."""

    def __init__(self, script: Callable[[int], int | None]) -> None:
        super().__init__(-1, -1)
        self.script = script
        self.asked: list[str] = []

    def hold(self, asks_for: str) -> int | None:
        self.asked.append(asks_for)
        return self.script(len(self.asked))


Sample = Callable[..., tuple[Recorder, dict[str, Any], Ordered]]


@pytest.fixture
def sample(monkeypatch: pytest.MonkeyPatch) -> Sample:
    """`sample(adapter)`: measure on the adapter's own clock, in rounds until it doesn't ask for more."""

    def sample(
        adapter: Scripted, protocol: Protocol = PROTOCOL, cores: Neighbours | None = None, script: Any = None
    ) -> tuple[Recorder, dict[str, Any], Ordered]:
        monkeypatch.setattr(clock, "now", adapter.now)
        monkeypatch.setattr(gc, "collect", lambda: 0)
        line = Ordered(script or (lambda n: n if line.asked[-1] == MORE else 0))
        recorder = Recorder()
        measure.measure(adapter, 0, None, protocol, recorder, cores=cores or Neighbours([]), turns=line)
        return recorder, columns_of(recorder.events), line

    return sample


def rounds_of(recorder: Recorder) -> list[dict[str, Any]]:
    """The turns' events."""
    return [event for event in of(recorder.events, "samples") if event.get("round")]


@pytest.mark.parametrize("seconds", [1e-5, 1e-3, 0.02, 0.1, 0.4, 1.0, 3.0])
def test_a_turn_is_a_batch_and_turns_go_on_until_the_stop_rule_holds(sample: Sample, seconds: float) -> None:
    recorder, columns, line = sample(Scripted(jitter(seconds)))
    turns_taken = rounds_of(recorder)
    assert [event["round"] for event in turns_taken] == [*range(1, len(turns_taken) + 1)]
    counts = [len(event["synced_seconds"]) for event in turns_taken]
    assert all(sum(event["synced_seconds"]) < 0.25 + 1.1 * seconds for event in turns_taken)
    assert max(counts) <= PROTOCOL.samples_max / PROTOCOL.rounds_min
    assert all(event["leading"] == (1 if count >= 3 else 0) for event, count in zip(turns_taken, counts, strict=True))
    counted = [s for event in turns_taken for s in event["synced_seconds"][event["leading"] :]]
    if seconds > PROTOCOL.slow_call_seconds:
        assert len(turns_taken) == PROTOCOL.slow_samples_min
    else:
        assert len(turns_taken) >= PROTOCOL.rounds_min
        met = len(counted) >= PROTOCOL.samples_min and sum(counted) >= PROTOCOL.seconds_min
        assert met or len(counted) >= 0.9 * PROTOCOL.samples_max
    assert line.asked == [MORE] * len(turns_taken) + [ENOUGH]
    assert columns["sampling"] == "rounds"
    alone = sum(
        len(e["synced_seconds"]) for e in of(recorder.events, "samples") if "round" not in e and "synced_seconds" in e
    )
    assert columns["synced_warmup"] == alone + turns_taken[0]["leading"]
    assert flags_of(recorder.events) <= {"assumed"}


@pytest.mark.parametrize(("seconds", "count"), [(1e-3, 251), (0.02, 40), (0.1, 20), (0.5, 5), (3.0, 5)])
def test_a_process_is_warm_once_a_steady_state_can_be_told(sample: Sample, seconds: float, count: int) -> None:
    recorder, _, _ = sample(Scripted(lambda n: seconds))
    alone = [e for e in of(recorder.events, "samples") if "synced_seconds" in e and "round" not in e]
    assert count <= sum(len(event["synced_seconds"]) for event in alone) <= count + 13
    phases = [event["phase"] for event in of(recorder.events, "phase")]
    assert phases[:6] == ["first", "second", "third", "steady", "hold", "steady"]
    assert phases[-2:] == ["pipelined", "fetch"]


def test_every_call_of_a_turn_is_accounted_for(sample: Sample) -> None:
    """Of short calls most only lead into it."""
    adapter = Scripted(lambda n: 1e-5)
    recorder, _, line = sample(adapter, dataclasses.replace(PROTOCOL, side_seconds_max=0))
    [[*lead_in, resting]] = [event["values"] for event in of(recorder.events, "metric") if event["name"] == "lead-in"]
    sampled = sum(len(event["synced_seconds"]) for event in of(recorder.events, "samples"))
    assert len(lead_in) == len(line.asked) - 1 and resting == 0
    assert 2 + sampled + sum(lead_in) / 1e-5 == pytest.approx(adapter.calls)


def test_the_phase_says_whether_it_holds(sample: Sample) -> None:
    recorder, _, _ = sample(Scripted(jitter(0.01)))
    phase = ""
    for event in recorder.events:
        phase = event["phase"] if event["event"] == "phase" else phase
        assert not (event["event"] == "samples" and phase == "hold")


def test_a_drift_is_told_before_the_first_turn_and_not_by_the_machines_pace(sample: Sample) -> None:
    recorder, _, _ = sample(Scripted(lambda n: 0.01 * (1 + n / 100)))
    assert "no_steady_state" in flags_of(recorder.events)
    pace = Scripted(lambda n: jitter(0.01)(n) * (1 if n < 200 else 1.3))
    recorder, columns, _ = sample(pace)
    assert len(columns["synced_seconds"]) > 250, "the pace changes in the turns"
    assert "no_steady_state" not in flags_of(recorder.events)


def test_a_disturbed_turn_is_replaced_by_another(sample: Sample) -> None:
    neighbours = Neighbours([0.0, 0.0, 0.4])
    recorder, _, _ = sample(Scripted(lambda n: 0.01 * (3 if neighbours.now() == 0.4 else 1)), cores=neighbours)
    turns_taken = rounds_of(recorder)
    clean = [event for event in turns_taken if not event["others"]]
    assert PROTOCOL.rounds_min <= len(clean) < len(turns_taken)
    assert sum(s for event in clean for s in event["synced_seconds"][1:]) >= PROTOCOL.seconds_min
    assert "disturbed" not in flags_of(recorder.events)


def test_turns_that_stay_disturbed_are_flagged(sample: Sample) -> None:
    recorder, columns, line = sample(Scripted(jitter(0.01)), cores=Neighbours([0.5]))
    assert "disturbed" in flags_of(recorder.events)
    assert line.asked[-1] == ENOUGH and sum(columns["synced_seconds"]) < 2 * PROTOCOL.replaced_seconds_max + 5


SURE = Protocol(samples_min=15, seconds_min=0.3, rounds_min=4, rounds_max=12, median_error=0.015)


@pytest.mark.parametrize(("deviation", "least", "most"), [(0.0, 4, 4), (0.01, 4, 5), (0.03, 5, 12), (0.5, 12, 12)])
def test_turns_end_when_the_median_is_sure_by_their_spread(deviation: float, least: int, most: int) -> None:
    draw = np.random.default_rng(2)
    taken = SamplesInRounds.after(SyncedSamples([0.05]), SURE)
    asked = []
    while not asked or asked[-1] == MORE:
        taken.add([0.05 * math.exp(deviation * draw.standard_normal())] * 5, Stretch(others=0.0))
        asked.append(taken.asks_for(SURE))
    assert least <= len(asked) <= most and asked[-1] == ENOUGH


def test_without_a_wanted_error_the_least_turns_are_enough() -> None:
    taken = SamplesInRounds.after(SyncedSamples([3.0]), PROTOCOL)
    for number in range(1, PROTOCOL.slow_samples_min + 1):
        taken.add([3.0 * number], Stretch(others=0.0))
    assert taken.asks_for(PROTOCOL) == ENOUGH, "slow calls, which differ"


@pytest.mark.parametrize("seconds", [1e-4, 0.05])
def test_a_turn_leaves_samples_for_all_turns_that_may_follow(sample: Sample, seconds: float) -> None:
    recorder, _, _ = sample(Scripted(jitter(seconds)), SURE)
    assert max(len(event["synced_seconds"]) for event in rounds_of(recorder)) <= SURE.samples_max / SURE.rounds_max


def test_a_process_says_when_it_has_taken_all_it_may(sample: Sample) -> None:
    recorder, columns, line = sample(Scripted(jitter(1.9)), Protocol(seconds_max=30.0))
    assert line.asked[-1] == FULL
    assert 30 <= sum(columns["synced_seconds"]) < 32
    assert of(recorder.events, "samples")[-1]["clock"] != "fetch", "no budget is left"


def test_told_to_stay_alone_it_is_sampled_as_without_rounds(sample: Sample, monkeypatch: pytest.MonkeyPatch) -> None:
    recorder, columns, _ = sample(Scripted(jitter(0.02)), script=lambda n: None)
    assert columns["sampling"] == "alone" and not rounds_of(recorder)
    assert [e for e in of(recorder.events, "metric") if e["name"] == "lead-in"], "its turns took time, too"
    samples = columns["synced_seconds"]
    assert len(samples) >= PROTOCOL.samples_min and sum(samples) >= PROTOCOL.seconds_min
    plain = Recorder()
    adapter = Scripted(jitter(0.02))
    monkeypatch.setattr(clock, "now", adapter.now)
    measure.measure(adapter, 0, None, PROTOCOL, plain, cores=Neighbours([]))
    assert len(columns_of(plain.events)["synced_seconds"]) == len(samples)


# --- the line ---


@contextmanager
def line_of_this_process() -> Iterator[tuple[Turns, int, int]]:
    """(turns of this process, where to write orders, where to read answers)."""
    orders, write = os.pipe()
    read, answers = os.pipe()
    environment = {TURNS_VARIABLE: f"{orders} {answers}", "HOME": "/"}
    line = Turns.offered(environment)
    assert line is not None and environment == {"HOME": "/"}
    yield line, write, read
    for descriptor in (orders, write, read, answers):
        os.close(descriptor)


@pytest.fixture
def pipes() -> Iterator[tuple[Turns, int, int]]:
    with line_of_this_process() as line:
        yield line


def in_a_process_of_its_own(check: Callable[[], None]) -> None:
    """A process's rest is that of all its threads and children: in this one other tests may have left a browser."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        pool.submit(check).result()


def test_without_a_line_nothing_is_offered() -> None:
    assert Turns.offered({"HOME": "/"}) is None


def test_orders_come_one_at_a_time(pipes: tuple[Turns, int, int]) -> None:
    line, write, read = pipes
    os.write(write, f"round 3\nround 4\n{ALONE}\n{REST}\n".encode())
    assert [line.hold(MORE) for _ in range(4)] == [3, 4, None, 0]
    word, bytes_ = os.read(read, 4096).decode().splitlines()[0].split()
    assert word == MORE and int(bytes_) > 2**20


def test_children_do_not_inherit_the_line(pipes: tuple[Turns, int, int]) -> None:
    line = pipes[0]
    assert not os.get_inheritable(line.orders) and not os.get_inheritable(line.answers)


def test_a_process_that_waits_takes_no_processor_time() -> None:
    in_a_process_of_its_own(wait_without_processor_time)


def wait_without_processor_time() -> None:
    with line_of_this_process() as (line, write, _):
        threading.Timer(0.5, os.write, (write, b"round 1\n")).start()
        assert line.hold(MORE) == 1
        assert line.held_seconds > 0.3 and line.held_processor_seconds < 0.05 and line.restless == 0


def test_it_hands_over_once_its_threads_rest_or_says_that_they_do_not() -> None:
    in_a_process_of_its_own(hand_over_at_rest)


def hand_over_at_rest() -> None:
    def spin() -> None:
        while time.monotonic() < until:
            pass

    with line_of_this_process() as (line, write, _):
        os.write(write, b"round 1\nround 2\n")
        until = time.monotonic() + 0.3
        threading.Thread(target=spin).start()
        line.hold(MORE)
        assert time.monotonic() >= until - 0.02 and line.restless == 0
        turns.WINDOWS_MAX = 3
        until = time.monotonic() + HUNG_SECONDS
        threading.Thread(target=spin).start()
        line.hold(MORE)
        assert line.restless == 1 and time.monotonic() < until
        until = 0.0


def test_an_orchestrator_that_has_gone_ends_the_wait() -> None:
    orders, write = os.pipe()
    read, answers = os.pipe()
    os.close(write)
    with pytest.raises(EOFError, match="gone"):
        Turns(orders, answers).hold(MORE)
    for descriptor in (orders, read, answers):
        os.close(descriptor)
