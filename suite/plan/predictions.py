"""Plans predictions. For each case of a plan and each accelerator that isn't here, it makes a case that the
accelerator's compiler judges."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from suite.case import Case, Planned
from suite.plan.refusals import unsupported
from suite.predict.devices import Device
from suite.sets.plan import Plan
from suite.stacks.catalog import STACKS
from suite.workloads.catalog import Workload


def predictions(plan: Plan, models: Sequence[Device], workloads: Mapping[str, Workload]) -> tuple[Planned, ...]:
    """Returns the cases of a plan as cases of the accelerators `models`. A case that the accelerator's compiler can't
    judge has the reason."""

    def refused(case: Case, device: Device) -> str | None:
        # A compiler that runs without its accelerator needs nothing of this machine.
        return unsupported(case, workloads[case.workload], lambda *_: None) or unpredicted(case, device)

    return tuple(
        Planned(case, refused(case, device))
        for device in models
        for planned in plan.cases
        for case in [dataclasses.replace(planned.case, target=device.target, device=device.name)]
    )


def unpredicted(case: Case, device: Device) -> str | None:
    stack = STACKS[case.stack]
    if stack.on_shapes and device.target in stack.predicted_on:
        return None
    if "cpu" not in stack.targets:
        return f"{stack.title} traces a step only on a device: no program is captured without one"
    if stack.compiler == "XLA":
        batch = case.dims.get("batch", 1)
        return f"a batch of {batch} can't be split among {device.count} chips" if batch % device.count else None
    if stack.compiler:
        return f"{stack.title} generates kernels on the device that they are for: there is no program to compile ahead"
    return f"{stack.title} runs operation by operation: it hands no whole step to a compiler"
