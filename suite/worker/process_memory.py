"""The memory of this process: its peaks, the framework's own figures, and giving back what was freed.

`ru_maxrss` isn't used, because a process inherits the peak of the process that launched it.
"""

from __future__ import annotations

import ctypes
import gc
import os
import re
from pathlib import Path
from typing import Any

from suite.machine import facts
from suite.machine.devices import driver_bytes
from suite.machine.processes import descendants
from suite.stacks.base import Adapter
from suite.worker.events import Events

# The first step may make the optimizer's moments, and the second may be compiled again for them; later steps are alike.
STEP_PHASES = ("first", "second", "steady")
SPARE_BYTES = 3 << 29  # of the machine's memory that `has_room` leaves to other processes


def status_bytes(pid: int | str, field: str) -> int | None:
    line = re.search(rf"^{field}:\s+(\d+) kB", facts.read(f"/proc/{pid}/status") or "", re.MULTILINE)
    return 1024 * int(line[1]) if line else None


def peak_bytes() -> int | None:
    """Returns the peak of resident memory (VmHWM) in bytes, with the children's; None where the kernel hides it."""
    return tree_bytes("VmHWM")


def file_bytes() -> int | None:
    """Returns the bytes of resident pages of files, which the kernel can drop, with the children's; None where the
    kernel hides them."""
    return tree_bytes("RssFile")


def tree_bytes(field: str) -> int | None:
    here = status_bytes("self", field)
    if here is None:
        return None
    return here + sum(status_bytes(child, field) or 0 for child in descendants(os.getpid()))


def needed_bytes() -> int:
    """Returns the most bytes held since this process's peak was reset, without files' pages; 0 where the kernel hides
    them."""
    return max(0, (peak_bytes() or 0) - (file_bytes() or 0))


def reset_peak() -> bool:
    """Resets VmHWM to the memory that is resident now. False where the kernel doesn't allow it."""
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return False
    return True


def ask(adapter: Adapter, state: Any, batch: Any, events: Events, could_reset: bool) -> None:
    """Runs three steps and writes the memory that they took, without clocks or gate. For attempts with the purpose
    `memory`."""
    for phase in STEP_PHASES:
        events.phase(phase)
        outputs = None  # else a step's peak has the results of the step before
        state, outputs = adapter.step(state, batch)
        adapter.wait(state, outputs)
    events.phase("memory")
    events.facts(**figures(adapter, peak_bytes() if could_reset else None))
    events.phase("fetch")
    adapter.results(outputs)  # PyTorch/XLA raises for a step that ran out of memory only when its result is fetched
    del outputs
    events.phase("memory")
    events.facts(**adapter.program_memory(state, batch))


def has_room(adapter: Adapter, needed_bytes: int) -> bool:
    """Whether `needed_bytes` more fit beside what this process holds: on a CPU under the case's limit and in what the
    machine has left, on an accelerator in the device. True where that is unknown."""
    if adapter.case.target != "cpu":
        reported = adapter.memory()
        used = reported["device_reserved_bytes"] or reported["device_peak_bytes"]
        total = reported["device_total_bytes"]
        return total is None or used is None or total - used >= needed_bytes
    limit, resident = adapter.case.limit_memory_bytes, status_bytes("self", "VmRSS")
    if limit is not None and resident is not None and limit - resident < needed_bytes:
        return False
    available = facts.memory().get("available_bytes")
    return available is None or available - SPARE_BYTES >= needed_bytes


def figures(adapter: Adapter, host_peak: int | None) -> dict[str, Any]:
    columns = {"host_peak_step_bytes": host_peak, "host_file_bytes": file_bytes(), **adapter.memory()}
    return columns | ({"nvml_bytes": driver_bytes(os.getpid())} if adapter.case.target == "cuda" else {})


def release() -> None:
    """Gives freed memory back to the system. Without this, an optimizer's moments may stay in a reference cycle that
    `clock.settle` exempted from collections, and the allocator keeps freed memory (after JAX's steps on four layers
    of GPT-Neo, as much as the model)."""
    gc.unfreeze()
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
