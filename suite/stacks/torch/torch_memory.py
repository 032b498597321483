"""Reads from torch.profiler what PyTorch's allocator holds in a step, and which operation of which module allocated
it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from suite.stacks.holders import Holder, Holders, MemoryEvent, at_peak

BACKWARD = "autograd::engine::evaluate_function: "
MODULE = "nn.Module: "


def holders(
    torch: Any, step: Callable[[], None], known: Mapping[int, Holder], gradients: Callable[[], Mapping[int, str]]
) -> Holders:
    """Returns what holds memory at the peak of one step, which it runs under the profiler.

    `known` are storages that stay during the step, by address; `gradients` returns {address: name} of the gradients
    that exist after the step. A storage that exists before the step and is released in it must not be in `known`, since
    the profiler doesn't record its release.
    """
    activities = [torch.profiler.ProfilerActivity.CPU]
    with torch.profiler.profile(activities=activities, profile_memory=True, with_stack=True) as profile:
        step()
    names = gradients()
    events = [memory_event(event, names) for event in allocations(torch, profile)]
    return Holders("torch.profiler", at_peak(known, events))


def allocations(torch: Any, profile: Any) -> list[Any]:
    kind = torch._C._profiler._EventType.Allocation

    def below(events: Any) -> Iterator[Any]:
        waiting = list(events)
        while waiting:
            event = waiting.pop()
            if event.tag == kind:
                yield event
            waiting += event.children

    tree = profile.profiler.kineto_results.experimental_event_tree()
    return sorted(below(tree), key=lambda event: event.start_time_ns)


def memory_event(event: Any, gradients: Mapping[int, str]) -> MemoryEvent:
    """Returns an event of the profiler as a MemoryEvent. Its category follows from the operation that
    allocated; a gradient is known by its address."""
    allocation = event.typed[1]
    if allocation.alloc_size < 0:
        return MemoryEvent(allocation.ptr, None)
    if allocation.ptr in gradients:
        return MemoryEvent(allocation.ptr, Holder("gradients", gradients[allocation.ptr], allocation.alloc_size))
    operation, module, backward = origin(event)
    category = "backward pass" if backward else "activations"
    return MemoryEvent(allocation.ptr, Holder(category, f"{module} {operation}".strip(), allocation.alloc_size))


def origin(event: Any) -> tuple[str, str, bool]:
    """Returns (operation, module, whether in the backward pass) of an allocation: the outermost operation below a
    module, or autograd's node."""
    operation, module, backward = "", "", False
    node = event.parent
    while node is not None and not module:
        name = str(node.name)
        if name.startswith(BACKWARD):
            operation, backward = name.removeprefix(BACKWARD), True
        elif name.startswith(MODULE):
            module = name.removeprefix(MODULE)
        elif name.startswith("aten::") and not backward:
            operation = name
        node = node.parent
    return operation, module, backward
