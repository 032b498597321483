"""Says why a case can't run, without running anything."""

from __future__ import annotations

from collections.abc import Callable

from suite.case import Case, Purpose
from suite.plan.preset import Preset
from suite.stacks.catalog import STACKS, Stack, adapter_class
from suite.stacks.knobs import chosen
from suite.workloads.catalog import Workload

Absent = Callable[[Stack, str, str], str | None]  # (stack, variant, target) -> what a machine lacks for them, or None


def unsupported(case: Case, workload: Workload, absent: Absent) -> str | None:
    """Returns the first reason why a case can't run; None if it can. Decided by the catalogue, the workload's
    spec and `absent`, without running anything."""
    stack = STACKS[case.stack]
    fields = case.to_json()
    if (elsewhere := not_on(stack, case.target)) is not None:
        return elsewhere
    if case.stack in (excluded := getattr(workload.spec, "NOT_ON", {})):
        return str(excluded[case.stack])
    if not workload.implementations(stack.dialect):
        return f"{workload.name} isn't written in the {stack.dialect} dialect"
    if (reason := workload.unsupported(stack.dialect, case)) is not None:
        return reason
    if (stack.forward_only and case.pass_ != "forward") or (workload.is_probe and not stack.probed):
        return f"{stack.title} runs {'forward passes alone' if stack.forward_only else 'whole programs alone'}"
    if case.pass_ not in workload.spec.PASSES:
        return f"{workload.name} has no {case.pass_} pass"
    if case.precision == "tf32" and case.target != "cuda":
        return f"tf32 is arithmetic of NVIDIA GPUs, which a {case.target} hasn't got"
    if case.precision not in stack.precisions:
        return f"{stack.title} has no {case.precision} arithmetic"
    if case.track == "tuned" and not chosen(adapter_class(case.stack).knobs, case, workload):
        return f"no tuned setting of {stack.title} is known to change {case.workload} on this {case.target}"
    if case.cache == "warm" and not stack.compile_cache:
        return f"{stack.title} keeps no compiled code for the next process"
    for exclusion in stack.exclusions:
        if all(fields[name] == value for name, value in exclusion.match.items()):
            return exclusion.reason
    return absent(stack, case.variant, case.target)


def not_on(stack: Stack, target: str) -> str | None:
    """Returns why a stack doesn't run on a target, and which other stacks run the same code there; None if it does."""
    if target in stack.targets:
        return None
    others = [other.name for other in STACKS.values() if other.dialect == stack.dialect and target in other.targets]
    return f"{stack.title} doesn't run on {target}" + (
        f": there its code runs on {', '.join(others)}" if others else ""
    )


def uncompiled(case: Case, purpose: Purpose, preset: Preset) -> str | None:
    """Returns the reason why a run that records programs gets none from a case. None if it gets some, and for runs with
    another purpose."""
    followed = preset.protocol.abstract and STACKS[case.stack].on_shapes
    if purpose is Purpose.IR and not STACKS[case.stack].compiler and not followed:
        return "it has no compiler whose programs could be read"
    return None
