"""What a graph of TensorFlow's holds: its own log of tensors, `TF_CPP_VMODULE=log_memory=2`. Eager operations don't
write it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from suite.stacks.holders import Change, Holder, Holders, at_peak

ENVIRON = {"TF_CPP_VMODULE": "log_memory=2", "TF_CPP_MIN_LOG_LEVEL": "0"}
LOG = "tensorflow-memory.log"
ALLOCATED = re.compile(
    r'MemoryLogTensorAllocation .* kernel_name: "([^"]*)" .*allocated_bytes: (\d+) .*allocation_id: (\d+)'
)
RELEASED = re.compile(r"MemoryLogTensorDeallocation .*allocation_id: (\d+)")


def holders(step: Callable[[], None], known: Mapping[int, Holder], folder: Path) -> Holders:
    """One step, its log read. `known` are tensors that are there before it, by any negative key."""
    log = folder / LOG
    kept, descriptor = os.dup(2), os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    os.dup2(descriptor, 2)
    try:
        step()
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(descriptor)
    found = changes(log.read_text(encoding="utf-8", errors="replace"))
    return Holders("TensorFlow's memory log", at_peak(known, found))


def changes(log: str) -> Iterator[Change]:
    """Allocations and releases in a log, in order."""
    for line in log.splitlines():
        if found := ALLOCATED.search(line):
            category = "gradients and backward pass" if "gradient_tape" in found[1] else "activations"
            yield Change(int(found[3]), Holder(category, found[1], int(found[2])))
        elif found := RELEASED.search(line):
            yield Change(int(found[1]), None)
