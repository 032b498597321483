"""What does a stack hand to its compiler? Kept as it is compiled, in a process apart: asking takes time, and JAX, once
it has lowered a step, doesn't do it again for the first call (0.26 s in place of 13.3)."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from suite.ir import files
from suite.stacks.base import Adapter
from suite.worker.events import Events
from suite.worker.memory import STEPS


class Collector:
    """Takes over what compilers leave, with the step in which they did."""

    def __init__(self, adapter: Adapter, caches: Path, folder: Path) -> None:
        self.adapter, self.caches, self.folder = adapter, caches, folder
        self.seen = {name for name, _ in adapter.programs(caches)}  # what placing took is no part of a step
        folder.mkdir()

    def take(self, step: str) -> None:
        """All that was compiled since the last look."""
        for name, path in self.adapter.programs(self.caches):
            if name not in self.seen:
                shutil.copyfile(path, self.folder / f"{step}-{name}")
                self.seen.add(name)


def capture(adapter: Adapter, state: Any, batch: Any, events: Events, caches: str) -> None:
    """Three steps, as in a process for memory, and what was compiled in each of them."""
    folder = events.folder / files.FOLDER
    collector, compiles = Collector(adapter, Path(caches), folder), adapter.counters()["compiles"]
    for step in STEPS:
        events.phase(step)
        state, outputs = adapter.step(state, batch)
        adapter.wait(state, outputs)
        before, compiles = compiles, adapter.counters()["compiles"]
        events.facts(**{f"compiles_{step}": None if before is None or compiles is None else compiles - before})
        collector.take(step)
    events.phase("ir")
    events.facts(graph_breaks=adapter.counters()["graph_breaks"])
    tell(adapter, state, batch, folder)


def capture_on_shapes(adapter: Adapter, data: Any, events: Events, caches: str) -> None:
    """The step compiled for tensors that aren't there: nothing is placed and nothing run."""
    folder = events.folder / files.FOLDER
    collector = Collector(adapter, Path(caches), folder)
    events.phase("first")
    state, batch = adapter.compile_on_shapes(data.parameters | data.buffers, data.batch)
    collector.take("first")
    events.phase("ir")
    tell(adapter, state, batch, folder)


def tell(adapter: Adapter, state: Any, batch: Any, folder: Path) -> None:
    """What the framework itself says of its step, beside what its compiler left."""
    for name, text in adapter.lowered(state, batch).items():
        (folder / name).write_text(text, encoding="utf-8")
