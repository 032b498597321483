"""What a case takes of memory: this process's peaks, the framework's own figures, and what is freed given back.

`ru_maxrss` is not used: it inherits the launcher's peak.
"""

from __future__ import annotations

import ctypes
import gc
import os
import re
from pathlib import Path
from typing import Any

from suite.machine.devices import driver_bytes
from suite.stacks.base import Adapter
from suite.worker.events import Events

# An optimizer's moments may appear in the first step, what is compiled for them in the second; the third is as all
# others are.
STEPS = ("first", "second", "steady")


def status_bytes(pid: int | str, field: str) -> int | None:
    """A field of /proc/<pid>/status in bytes; None where the process or the field is gone."""
    try:
        text = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return None
    line = re.search(rf"^{field}:\s+(\d+) kB", text, re.MULTILINE)
    return 1024 * int(line[1]) if line else None


def children(pid: int) -> list[int]:
    """All living descendants."""
    descendants: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            direct = [int(child) for child in task.read_text().split()]
        except OSError:
            continue  # the thread has ended meanwhile
        for child in direct:
            descendants += [child, *children(child)]
    return descendants


def peak_bytes() -> int | None:
    """VmHWM of this process plus that of its living children, in bytes; None where hidden."""
    own = status_bytes("self", "VmHWM")
    if own is None:
        return None
    return own + sum(status_bytes(child, "VmHWM") or 0 for child in children(os.getpid()))


def file_bytes() -> int | None:
    """Resident pages of files, of this process and its living children; None where hidden. The kernel can drop them."""
    own = status_bytes("self", "RssFile")
    if own is None:
        return None
    return own + sum(status_bytes(child, "RssFile") or 0 for child in children(os.getpid()))


def reset_peak() -> bool:
    """Start VmHWM anew from what is resident now; False where the kernel doesn't allow it."""
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return False
    return True


def ask(adapter: Adapter, state: Any, batch: Any, events: Events, could_reset: bool) -> None:
    """The steps that memory needs, then what they took. No clocks and no gate: a process whose purpose is memory."""
    for phase in STEPS:
        events.phase(phase)
        state, outputs = adapter.step(state, batch)
        adapter.wait(state, outputs)
    events.phase("memory")
    events.facts(**figures(adapter, peak_bytes() if could_reset else None))
    events.phase("fetch")
    adapter.fetch(outputs)  # PyTorch/XLA says nothing of a step that ran out of memory until its result is asked for
    del outputs
    events.phase("memory")
    events.facts(**adapter.program_memory(state, batch))


def figures(adapter: Adapter, host_peak: int | None) -> dict[str, Any]:
    """The columns that tell what the steps took; null for what isn't known here."""
    told = {"host_peak_step_bytes": host_peak, "host_file_bytes": file_bytes(), **adapter.memory()}
    return told | ({"nvml_bytes": driver_bytes(os.getpid())} if adapter.case.target == "cuda" else {})


def release() -> None:
    """Give back what a state held: an optimizer's moments may hang in a cycle that `measure.settle` took from
    collections, and the allocator keeps what was freed (as much as the model after JAX's steps on four layers of
    GPT-Neo)."""
    gc.unfreeze()
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
