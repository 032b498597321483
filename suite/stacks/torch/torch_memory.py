"""What PyTorch's own allocator holds in a step, by torch.profiler: which operation of which module asked for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from suite.stacks.holders import Change, Holder, Holders, at_peak

BACKWARD = "autograd::engine::evaluate_function: "
MODULE = "nn.Module: "


def holders(
    torch: Any, step: Callable[[], None], known: Mapping[int, Holder], gradients: Callable[[], Mapping[int, str]]
) -> Holders:
    """One step under the profiler.

    `known` are storages that stay, by address; `gradients` gives the names of those that the step leaves behind. What
    is there before the step and released in it must not be known: of its release the profiler doesn't tell.
    """
    activities = [torch.profiler.ProfilerActivity.CPU]
    with torch.profiler.profile(activities=activities, profile_memory=True, with_stack=True) as profile:
        step()
    left = gradients()
    changes = [change(event, left) for event in allocations(torch, profile)]
    return Holders("torch.profiler", at_peak(known, changes))


def allocations(torch: Any, profile: Any) -> list[Any]:
    """Events of allocation and release, in the order of time."""
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


def change(event: Any, gradients: Mapping[int, str]) -> Change:
    """One event. What it is for follows from where it was asked for."""
    what = event.typed[1]
    if what.alloc_size < 0:
        return Change(what.ptr, None)
    if what.ptr in gradients:
        return Change(what.ptr, Holder("gradients", gradients[what.ptr], what.alloc_size))
    operation, module, backward = asked_by(event)
    category = "backward pass" if backward else "activations"
    return Change(what.ptr, Holder(category, f"{module} {operation}".strip(), what.alloc_size))


def asked_by(event: Any) -> tuple[str, str, bool]:
    """(operation, module, whether backward): the outermost operation below a module, or a gradient's node."""
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
