"""Finds out where a step's time goes: a few steps under the framework's own profiler, in a process that is never timed.
A few steps without the profiler show how much the profiler slows a step."""

from __future__ import annotations

import dataclasses
import json
import shutil
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from suite.ir import files, timeline
from suite.stacks.base import Adapter
from suite.worker.events import Events
from suite.worker.process_memory import STEP_PHASES

SETTLING_SECONDS = 1.0  # of steps, after those that compile: PyTorch/XLA's first steps are up to three times slower
PLAIN, PROFILED = 5, 3  # steps without and with the profiler, after these


def trace(adapter: Adapter, state: Any, batch: Any, events: Events, caches: str) -> None:
    """Takes steps until the stack has settled, times a few, then profiles a few more. XLA's traces are only saved here:
    reading them needs XLA's bindings, which only the environment `jax` has."""

    def step() -> float:
        nonlocal state
        start = perf_counter()
        state, outputs = adapter.step(state, batch)
        adapter.wait(state, outputs)
        return perf_counter() - start

    for phase in STEP_PHASES:
        events.phase(phase)
        step()
    settled = 0.0
    while settled < SETTLING_SECONDS:
        settled += step()
    plain = median(step() for _ in range(PLAIN))
    events.phase("profile")
    state, batch = adapter.listen(state, batch)  # only now: recording calls would slow the steps that are timed above
    taken: list[float] = []
    folder = events.folder / files.PROFILE
    folder.mkdir()
    traced = adapter.profile(lambda: taken.extend(step() for _ in range(PROFILED)), folder)
    if traced is None:
        return  # this stack has no profiler
    if traced.spans is not None:
        profiled = timeline.profile(traced.recorded_by, traced.spans, PROFILED, sum(taken), plain)
        events.facts(profile=dataclasses.asdict(profiled))
        return
    for pattern in (files.PROGRAMS, files.PROTOS):
        for path in Path(caches).rglob(pattern):
            shutil.copyfile(path, folder / path.name)
    request = {"recorded_by": traced.recorded_by, "steps": PROFILED, "seconds": sum(taken), "plain_seconds": plain}
    (folder / files.ASKED).write_text(json.dumps(request), encoding="utf-8")
