"""Measures what the timing loop adds to a sample, and whether it reports the durations of known sleeps.

Required: the median of an empty step is at most 1 µs above the bare clock; a step that sleeps 5.000 ms is reported at
most 0.2 ms longer; the first, second and steady times of a step with known sleeps are those sleeps. Runs in any
environment with numpy; benchmarks/README.md shows the command.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path
from statistics import median
from time import perf_counter_ns as now
from typing import Any

import numpy as np

from benchmarks.pairs import PAIRS, alternate, summarise
from suite.protocol import Protocol
from suite.stats import steady_start
from suite.worker.events import Events
from suite.worker.timing.clock import Clock, quiet_collector
from suite.worker.timing.measure import measure

SLEEP_SECONDS = 0.005
KNOWN_SECONDS = {"first": 0.060, "second": 0.030, "steady": 0.005}


class Empty:
    """A stack that does nothing, with the methods of an adapter that the clock needs."""

    train = False

    def step(self, state: Any, batch: Any) -> tuple[Any, Any]:
        """Computes nothing."""
        return state, None

    def wait(self, state: Any, outputs: Any) -> None:
        """Returns at once, since nothing is computed."""

    def results(self, outputs: Any) -> np.ndarray:
        """Returns an array that stands for the outputs."""
        return np.zeros(1, np.float32)

    def result_types(self, outputs: Any) -> dict[str, str]:
        """Returns the type of the array."""
        return {"": "float32"}

    def counters(self) -> dict[str, float | None]:
        """Returns counters that say that nothing is compiled."""
        return {"compiles": 0, "compile_seconds": 0.0, "graph_breaks": 0, "fallback_ops": 0}


class Sleeper(Empty):
    """A stack whose steps sleep: each takes the next duration of a list, and the last one is repeated."""

    def __init__(self, *seconds: float) -> None:
        self.seconds = list(seconds)

    def step(self, state: Any, batch: Any) -> tuple[Any, Any]:
        """Sleeps for the next duration."""
        time.sleep(self.seconds.pop(0) if len(self.seconds) > 1 else self.seconds[0])
        return state, None


def overhead_ns(samples: int) -> tuple[float, float]:
    """Returns (median of an empty step, median of two readings of the bare clock) in ns."""
    clock = Clock(Empty(), None, None)
    with quiet_collector():
        loop = median(clock.synced()[1] for _ in range(samples))
        bare = median(-(now() - now()) for _ in range(samples))
    return loop, bare


def sleeps(pairs: int, samples: int) -> list[tuple[float, float]]:
    """Returns (our median, a bare loop's median) of the same sleep, for each pair, in seconds."""
    clock = Clock(Sleeper(SLEEP_SECONDS), None, None)

    def ours() -> float:
        with quiet_collector():
            return median(clock.synced()[1] for _ in range(samples)) / 1e9

    def bare() -> float:
        taken = []
        for _ in range(samples):
            start = now()
            time.sleep(SLEEP_SECONDS)
            taken.append(now() - start)
        return median(taken) / 1e9

    return list(alternate(ours, bare, pairs))


def known() -> dict[str, float]:
    """Returns what the whole measurement reports for a stack of known sleeps, in seconds."""
    with tempfile.TemporaryDirectory(prefix="stack-wars-") as folder:
        events = Events(Path(folder))
        protocol = Protocol(seconds_min=0.2)
        measure(Sleeper(*KNOWN_SECONDS.values()), None, None, protocol, events)  # type: ignore[arg-type]
        columns: dict[str, Any] = {}
        samples: list[float] = []
        for line in (Path(folder) / "events.jsonl").read_text(encoding="utf-8").splitlines():
            event = json.loads(line)
            columns |= event.get("columns", {})
            samples += event.get("synced_seconds", [])
    steady = median(samples[steady_start(samples).warmup :])
    return {"first": columns["first_seconds"], "second": columns["second_seconds"], "steady": steady}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=20, choices=PAIRS)
    parser.add_argument("--samples", type=int, default=40, help="sleeps on each side of a pair")
    parser.add_argument("--empty", type=int, default=100_000, help="empty steps")
    options = parser.parse_args()
    loop, bare = overhead_ns(options.empty)
    print(f"empty step: {loop:.0f} ns, bare clock {bare:.0f} ns: the loop adds {loop - bare:.0f} ns")

    readings = sleeps(options.pairs, options.samples)
    excess = median(ours - bare for ours, bare in readings) * 1e6
    above = median(ours for ours, _ in readings) - SLEEP_SECONDS
    print(f"sleep of {SLEEP_SECONDS * 1e3:.3f} ms: ours / bare loop {summarise(readings)}")
    print(f"  median excess over the bare loop {excess:+.2f} µs; reported {above * 1e3:+.4f} ms above the sleep")

    for phase, seconds in known().items():
        sleep = KNOWN_SECONDS[phase]
        print(f"{phase}: sleep {sleep * 1e3:.3f} ms, reported {seconds * 1e3:.3f} ms ({(seconds - sleep) * 1e3:+.3f})")


if __name__ == "__main__":
    main()
