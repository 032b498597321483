"""Finds out which kernels a step runs and what holds its memory, from the frameworks' and libraries' own logs. Logging
takes time, so this process is never timed."""

from __future__ import annotations

import ctypes
import dataclasses
import os
import sys
from pathlib import Path
from typing import Any

from suite.stacks.base import Adapter
from suite.stacks.kernels import LibraryLogs
from suite.worker.events import Events

LOG = "explain.log"  # the libraries' output, kept beside the events as evidence


class LogCapture:
    """Redirects this process's standard output, where libraries log, to a file. Make it before they are loaded, since
    some log while they load."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / LOG
        descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        sys.stdout.flush()
        os.dup2(descriptor, 1)
        os.close(descriptor)

    def heard(self) -> str:
        sys.stdout.flush()
        ctypes.CDLL(None).fflush(None)  # C doesn't write its buffer for a file line by line
        return self.path.read_text(encoding="utf-8", errors="replace")


def explain(adapter: Adapter, state: Any, batch: Any, events: Events, listener: LogCapture, folder: str) -> None:
    """Runs two steps, in which everything is compiled, then a third, whose logs are evaluated. `folder` has the
    compilers' programs."""
    before = ""
    for phase in ("first", "second", "explain"):
        events.phase(phase)
        if phase == "explain":
            state, batch = adapter.listen(state, batch)
        before = listener.heard()
        state, outputs = adapter.step(state, batch)
        adapter.wait(state, outputs)
    logs = LibraryLogs(before=before, step=listener.heard().removeprefix(before), folder=Path(folder))
    events.facts(kernels=[dataclasses.asdict(used) for used in adapter.kernels_used(logs)])
    holders = adapter.holders(logs, state, batch)
    events.facts(holders=holders and holders.to_json())
