"""Where does a step's time go? A few steps under the framework's own profiler, in a process apart, beside a few
without: what the profiler costs is part of the answer."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from suite.ir import files, timeline
from suite.stacks.base import Adapter
from suite.worker.events import Events
from suite.worker.memory import STEPS

PLAIN, PROFILED = 5, 3  # steps without and with the profiler, after those that compile


def trace(adapter: Adapter, state: Any, batch: Any, events: Events, caches: str) -> None:
    """Compile, time a few steps, then profile a few more. XLA's traces are read later, where its bindings are."""

    def step() -> float:
        nonlocal state
        start = perf_counter()
        state, outputs = adapter.step(state, batch)
        adapter.wait(state, outputs)
        return perf_counter() - start

    for phase in STEPS:
        events.phase(phase)
        step()
    plain = median(step() for _ in range(PLAIN))
    events.phase("profile")
    state, batch = adapter.listened(state, batch)
    taken: list[float] = []
    folder = events.folder / files.PROFILE
    folder.mkdir()
    told = adapter.profile(lambda: taken.extend(step() for _ in range(PROFILED)), folder)
    if told is None:
        return
    if told.spans is not None:
        found = timeline.profile(told.by, told.spans, PROFILED, sum(taken), plain)
        events.facts(profile=found.to_json())
        return
    for path in Path(caches).rglob(files.PROGRAMS):
        shutil.copyfile(path, folder / path.name)
    asked = {"told_by": told.by, "steps": PROFILED, "seconds": sum(taken), "plain_seconds": plain}
    (folder / files.ASKED).write_text(json.dumps(asked), encoding="utf-8")
