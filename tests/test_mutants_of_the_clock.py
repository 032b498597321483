"""Stacks that are written to look fast: what each forges, and what catches it. docs/why/security.md has the list."""

from __future__ import annotations

import dataclasses
import os
import sys
from pathlib import Path

import pytest

from suite.launch.attempt import columns, prepare
from suite.launch.local import Local
from suite.results.clocks import contradiction
from suite.sets.rows import Row, empty_row
from suite.stacks.catalog import STACKS, load
from suite.workloads import catalog
from tests.worker.processes import FAST, attempt_of, case_of

# A step that takes at least WORK seconds on any machine. `self.work` is the honest step.
STACK = """
import gc, hashlib, os, sys, time
from concurrent.futures import ThreadPoolExecutor
from suite.stacks.catalog import Stack
from suite.stacks.numpy import numpy_adapter

WORK = 0.25
STACK = Stack("cheat", "a stack that cheats", "numpy", "orchestrator", targets=("cpu",), precisions=("f32",))

def hurried(clock, factor=10):
    start = clock()
    return lambda: start + (clock() - start) // factor

class Adapter(numpy_adapter.Adapter):
    kept, held = {}, []
    calls = 0

    def work(self, state, batch):
        until = time.thread_time() + WORK
        while time.thread_time() < until:
            hashlib.sha256(bytes(2**20))  # without the interpreter's lock
        return super().step(state, batch)

    def step(self, state, batch):
        return self.work(state, batch)

    def keep(self, key, state, batch):
        self.held.append((state, batch))  # else an identity would be used again
        if key not in self.kept:
            self.kept[key] = self.work(state, batch)[1]
        return state, self.kept[key]

"""
LATER = """
class Later:
    '''A result that is computed when somebody asks for it.'''
    dtype = 'float32'
    def __init__(self, compute): self.compute = compute
    def __array__(self, dtype=None, copy=None): return self.compute()[1]

"""
FORGED = """
    def step(self, state, batch):
        frame = sys._getframe()
        while 'events' not in frame.f_locals:
            frame = frame.f_back
        events = frame.f_locals['events']
        events.phase('steady')
        events.write('samples', clock='synced', synced_seconds=[0.5] * 11, dispatch_seconds=[0.5] * 11)
        os._exit(events.write('end') or 0)
"""
CLOCK = ("by its own clock",)
# Work that is not timed is seen by the checked steps, or on a busy machine by the supervisor's clock, which asks first.
UNTIMED = (*CLOCK, "one on values that it hadn't seen")
# {what a stack does: (its code, what its row says: any of these)}
CHEATS = {
    "patches time.perf_counter_ns": ("    time.perf_counter_ns = hurried(time.perf_counter_ns)\n", CLOCK),
    "patches the suite's own clock, once it is timed": (
        """
    def step(self, state, batch):
        clock = sys.modules['suite.worker.timing.clock']
        if not gc.isenabled() and not self.calls:
            self.calls, clock.now = 1, hurried(clock.now)
        return self.work(state, batch)
""",
        CLOCK,
    ),
    "keeps results by the inputs' identity": (
        """
    def step(self, state, batch):
        return self.keep((id(state), id(batch)), state, batch)
""",
        UNTIMED,
    ),
    "keeps results by the inputs' values": (
        """
    def step(self, state, batch):
        values = [*state['parameters'].values(), *batch.values()]
        return self.keep(b''.join(value.tobytes() for value in values), state, batch)
""",
        UNTIMED,
    ),
    "keeps a result while it is timed, and works when it is checked": (
        """
    def step(self, state, batch):
        return self.work(state, batch) if gc.isenabled() else self.keep('timed', state, batch)
""",
        UNTIMED,
    ),
    "leaves its work to a thread": (
        f"""
    pool = ThreadPoolExecutor(1)

    def step(self, state, batch):
        return state, Later(self.pool.submit(self.work, state, batch).result)
{LATER}""",
        UNTIMED,
    ),
    "leaves its work to the first look at its result": (
        f"""
    def step(self, state, batch):
        return state, Later(lambda: self.work(state, batch))
{LATER}""",
        UNTIMED,
    ),
    "is wrong while it is timed": (
        """
    def step(self, state, batch):
        return self.work(state, batch) if gc.isenabled() else (state, batch['a'])
""",
        ("last timed output",),
    ),
    "computes in a lower precision": (
        """
    def step(self, state, batch):
        parameters, batch = ({name: value.astype('float16').astype('float32') for name, value in values.items()}
                             for values in (state['parameters'], batch))
        return state, self.work({'parameters': parameters}, batch)[1]
""",
        ("output of other values",),
    ),
    "adds events to the file": (
        """
    def step(self, state, batch):
        with open('events.jsonl', 'a') as file:
            file.write('{"v": 1, "seq": 9, "t_ns": 1, "event": "samples", "clock": "synced",'
                       ' "synced_seconds": [1e-6], "dispatch_seconds": [1e-6]}\\n')
        return self.work(state, batch)
""",
        ("unreadable events.jsonl",),
    ),
    "writes samples of its own, and ends": (FORGED, CLOCK),
    "writes samples of its own, and ends when they would have": (
        FORGED.replace("        os._exit", "        time.sleep(5)\n        os._exit"),
        None,
    ),
    "computes every result while tensors are placed": (
        """
    places = ()

    def place(self, *tensors):
        place = super().place(*tensors)
        self.places = (*self.places, place)
        for state, batch in ((s, b) for s, _ in self.places for _, b in self.places):
            self.keep((id(state), id(batch)), state, batch)
        return place

    def step(self, state, batch):
        return self.keep((id(state), id(batch)), state, batch)
""",
        None,
    ),
    "does nothing of the kind": ("", None),
}


def ended(cheat: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Row, str | None]:
    """Returns the row of a process of this stack, and why its times can't be true."""
    stack = folder / "cheat_adapter.py"
    stack.write_text(STACK + CHEATS[cheat][0], encoding="utf-8")
    monkeypatch.setitem(STACKS, "cheat", load(stack))
    attempt = dataclasses.replace(attempt_of(case_of(stack="cheat")), seed=0)
    request = prepare(
        attempt,
        folder=folder / "logs",
        protocol=dataclasses.replace(
            FAST, samples_max=8, pipelined_calls_max=4, side_samples=1, side_samples_slow=1, replaced_seconds_max=0.0
        ),
        cpus=sorted(os.sched_getaffinity(0))[:1],
        gate=True,
        workload_folder=catalog.HOME / "ops" / "gemm",
        cache_directory=folder,
    )
    engine = Local(Path(sys.executable))
    end = engine.launch(request)
    row = empty_row(attempt) | columns(attempt, request, engine, end)
    return row, contradiction(row, end.phase_seconds)


@pytest.mark.parametrize("cheat", CHEATS)
def test_what_is_forged_is_caught(cheat: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    row, implausible = ended(cheat, tmp_path, monkeypatch)
    said, expected = implausible or row["reason"], CHEATS[cheat][1]
    if expected is None:
        assert (row["outcome"], said) == ("ok", None), row["stderr_tail"]
    else:
        assert any(words in str(said) for words in expected), row
