"""Keeps the programs that a stack hands to its compiler. The process is never timed, since keeping a program changes
its times: a JAX step that was lowered before its first call compiles in 0.26 s instead of 13.3 s."""

from __future__ import annotations

import shutil
from pathlib import Path
from time import perf_counter
from typing import Any

from suite.ir import files
from suite.stacks.base import Adapter
from suite.worker.events import Events
from suite.worker.process_memory import STEP_PHASES


class Collector:
    """Copies compilers' programs into one folder, named after the step in which they were compiled."""

    def __init__(self, adapter: Adapter, caches: Path, folder: Path) -> None:
        self.adapter, self.caches, self.folder = adapter, caches, folder
        self.seen = {name for name, _ in adapter.programs(caches)}  # compiled while placing, and no part of a step
        folder.mkdir()

    def take(self, step: str) -> None:
        for name, path in self.adapter.programs(self.caches):
            if name not in self.seen:
                shutil.copyfile(path, self.folder / f"{step}-{name}")
                self.seen.add(name)


def capture(adapter: Adapter, state: Any, batch: Any, events: Events, caches: str) -> None:
    folder = events.folder / files.FOLDER
    collector, compiles = Collector(adapter, Path(caches), folder), adapter.counters()["compiles"]
    for step in STEP_PHASES:
        events.phase(step)
        started = perf_counter()
        state, outputs = adapter.step(state, batch)
        adapter.wait(state, outputs)
        write_first_call(events, step, started)
        before, compiles = compiles, adapter.counters()["compiles"]
        events.facts(**{f"compiles_{step}": None if before is None or compiles is None else compiles - before})
        collector.take(step)
    events.phase("ir")
    events.facts(graph_breaks=adapter.counters()["graph_breaks"], **adapter.planned_memory(Path(caches)))
    write_lowered(adapter, state, batch, folder)


def capture_on_shapes(adapter: Adapter, data: Any, events: Events, caches: str) -> None:
    folder = events.folder / files.FOLDER
    collector = Collector(adapter, Path(caches), folder)
    events.phase("first")
    started = perf_counter()
    state, batch = adapter.compile_on_shapes(data.parameters | data.buffers, data.batch)
    write_first_call(events, "first", started)
    collector.take("first")
    events.phase("ir")
    events.facts(**adapter.planned_memory(Path(caches)))
    write_lowered(adapter, state, batch, folder)


def write_first_call(events: Events, step: str, started: float) -> None:
    """Writes how long the first step took. The rest of this process's time is the cost of keeping programs."""
    if step == STEP_PHASES[0]:
        events.write("metric", name="first call", unit="s", kind="ir", values=[perf_counter() - started])


def write_lowered(adapter: Adapter, state: Any, batch: Any, folder: Path) -> None:
    for name, text in adapter.lowered(state, batch).items():
        (folder / name).write_text(text, encoding="utf-8")
