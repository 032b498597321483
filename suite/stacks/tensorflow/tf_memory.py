"""Reads what holds memory in a graph from TensorFlow's log of tensors, `TF_CPP_VMODULE=log_memory=2`. Eager operations
don't write it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from suite.stacks.holders import Holder, Holders, MemoryEvent, at_peak

ENVIRON = {"TF_CPP_VMODULE": "log_memory=2", "TF_CPP_MIN_LOG_LEVEL": "0"}
LOG = "tensorflow-memory.log"
ALLOCATED = re.compile(
    r'MemoryLogTensorAllocation .* kernel_name: "([^"]*)" .*allocated_bytes: (\d+) .*allocation_id: (\d+)'
)
RELEASED = re.compile(r"MemoryLogTensorDeallocation .*allocation_id: (\d+)")


def holders(step: Callable[[], None], known: Mapping[int, Holder], folder: Path) -> Holders:
    """Returns what holds memory at the peak of one step, from its log. `known` are the tensors that exist before the
    step, by negative keys, which no entry of the log has."""
    log = folder / LOG
    stderr, descriptor = os.dup(2), os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    os.dup2(descriptor, 2)
    try:
        step()
    finally:
        os.dup2(stderr, 2)
        os.close(stderr)
        os.close(descriptor)
    events = memory_events(log.read_text(encoding="utf-8", errors="replace"))
    return Holders("TensorFlow's memory log", at_peak(known, events))


def memory_events(log: str) -> Iterator[MemoryEvent]:
    for line in log.splitlines():
        if match := ALLOCATED.search(line):
            category = "gradients and backward pass" if "gradient_tape" in match[1] else "activations"
            yield MemoryEvent(int(match[3]), Holder(category, match[1], int(match[2])))
        elif match := RELEASED.search(line):
            yield MemoryEvent(int(match[1]), None)
