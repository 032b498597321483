"""Which kernels does a step run, and what holds its memory? Frameworks and libraries tell, in a process apart: telling
takes time, so nothing is timed."""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path
from typing import Any

from suite.stacks.base import Adapter
from suite.stacks.kernels import Told
from suite.worker.events import Events

LOG = "explain.log"  # beside the events: what the libraries said, kept as evidence


class Listener:
    """Takes over this process's standard output, where libraries log. Before they are loaded: some log then."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / LOG
        descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        sys.stdout.flush()
        os.dup2(descriptor, 1)
        os.close(descriptor)

    def heard(self) -> str:
        """All that was said so far."""
        sys.stdout.flush()
        ctypes.CDLL(None).fflush(None)  # C's own buffers: a file's aren't written line by line
        return self.path.read_text(encoding="utf-8", errors="replace")


def explain(adapter: Adapter, state: Any, batch: Any, events: Events, listener: Listener, folder: str) -> None:
    """Two steps, in which everything is compiled, then the one that is listened to. `folder` has what was compiled."""
    before = ""
    for phase in ("first", "second", "explain"):
        events.phase(phase)
        if phase == "explain":
            state, batch = adapter.listened(state, batch)
        before = listener.heard()
        state, outputs = adapter.step(state, batch)
        adapter.wait(state, outputs)
    told = Told(before=before, step=listener.heard().removeprefix(before), folder=Path(folder))
    events.facts(kernels=[used.to_json() for used in adapter.kernels_used(told)])
    found = adapter.holders(told, state, batch)
    events.facts(holders=found and found.to_json())
