"""Measures what a container costs: runs a case locally and in a container, in alternating pairs of fresh processes.

Required: a ratio of the readings within 3 % of 1, and at most 1.5 s more to start and end. A reading is a process's
steady median; or its first call, which shows the speed of an external compiler. The stacks depend on what may differ in
an image (interpreter, C++ compiler, C library, file system of the caches): `jax_eager` is mostly Python, and the first
call of `torch_inductor` mostly g++. Runs in the orchestrator's environment; benchmarks/README.md shows the command.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from benchmarks.cases import attempt_of, case_of, run_worker
from benchmarks.pairs import PAIRS, alternate, summarise
from suite.answers.environment import BUILDS
from suite.case import Attempt
from suite.environments.locks import Locks
from suite.launch.engine import Engine
from suite.machine import facts
from suite.protocol import Protocol
from suite.run.start import engines
from suite.stacks.catalog import IMPORTS, STACKS

RACES = ("jax_jit", "torch_eager", "jax_eager", "torch_inductor:first")


@dataclasses.dataclass
class Side:
    """One engine's processes: their `readings`, and in `around` their time before and after the measurement, in
    seconds."""

    engine: Engine
    attempt: Attempt
    protocol: Protocol
    clock: str
    readings: list[float] = dataclasses.field(default_factory=list)
    around: list[float] = dataclasses.field(default_factory=list)
    builds: dict[str, Any] = dataclasses.field(default_factory=dict)

    def reading(self) -> float:
        """Runs one process and returns its steady median or its first call, in seconds."""
        with tempfile.TemporaryDirectory(prefix="stack-wars-") as folder:
            start = perf_counter()
            row = run_worker(self.attempt, self.engine, Path(folder), self.protocol, gate=False)
            seconds = perf_counter() - start
            lines = (Path(folder) / "logs" / "events.jsonl").read_text(encoding="utf-8").splitlines()
        if row["outcome"] != "ok":
            raise SystemExit(f"{row['engine']}: {row['outcome']}: {row['reason']}")
        steady = row["synced_seconds"][row["synced_warmup"] :]
        self.readings.append(row["first_seconds"] if self.clock == "first" else median(steady))
        self.around.append(seconds - measuring([json.loads(line) for line in lines]))
        self.builds = {word: row["environment_facts"].get(name) for name, word in BUILDS.items()}
        return self.readings[-1]


def measuring(events: list[dict[str, Any]]) -> float:
    """Returns the seconds from the phase `build`, which begins after the imports, to the last event."""
    begin = next(event["t_ns"] for event in events if event.get("phase") == "build")
    return (events[-1]["t_ns"] - begin) / 1e9


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("races", nargs="*", default=RACES, help="stacks; stack:first for the first call")
    parser.add_argument("--pairs", type=int, default=20, choices=PAIRS)
    parser.add_argument("--seconds", type=float, default=2.0, help="of samples in each process")
    parser.add_argument("--n", type=int, default=1024, help="side of the matrices")
    options = parser.parse_args()
    protocol = dataclasses.replace(Protocol(), seconds_min=options.seconds)
    for name in options.races:
        stack, _, clock = name.partition(":")
        race(stack, clock or "steady", protocol, options.pairs, options.n)


def race(stack: str, clock: str, protocol: Protocol, pairs: int, n: int) -> None:
    """Races one stack in alternating pairs, by one clock."""
    environment = STACKS[stack].environment
    choice = engines.choose("docker", [environment], Locks("cpu"), None, build=True)
    attempt = attempt_of(case_of(stack, size="quick", dims={"n": n}, threads=len(facts.usable_cores())))
    local = engines.provider(engines.Choice("local", ""), Locks("cpu"), "benchmark", None)(environment)
    docker = engines.provider(choice, Locks("cpu"), "benchmark", None)(environment)
    print(f"{stack}, {clock}, gemm n={n} forward, {choice.why}")
    for engine in (docker, local):
        engine.warm_up("; ".join(f"import {module}" for module in IMPORTS[environment]))
    ours, theirs = (Side(engine, attempt, protocol, clock) for engine in (docker, local))
    readings = []
    for number, (a, b) in enumerate(alternate(ours.reading, theirs.reading, pairs), 1):
        readings.append((a, b))
        print(
            f"pair {number:2}: docker {a * 1e3:8.4f} ms, local {b * 1e3:8.4f} ms, ratio {a / b:.4f}; "
            f"start and end: docker {ours.around[-1]:.2f} s, local {theirs.around[-1]:.2f} s",
            flush=True,
        )
    more = sorted(a - b for a, b in zip(ours.around, theirs.around, strict=True))
    print(f"docker / local: {summarise(readings)}")
    print(f"start and end, docker - local: median {median(more):.2f} s, greatest {more[-1]:.2f} s")
    for word, value in ours.builds.items():
        if value != theirs.builds[word]:
            print(f"{word}: docker {value}, local {theirs.builds[word]}")
    print()


if __name__ == "__main__":
    main()
