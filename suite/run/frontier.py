"""Searches for the largest size that fits, one process after the other: memory processes for `./stackwars frontier`,
captures and compilations for `./stackwars predict --vary`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

from suite.case import OUT_OF_MEMORY, Attempt, Case, Flag, Outcome, Purpose
from suite.plan.frontier import next_size
from suite.plan.layout import attempt_of
from suite.predict import devices
from suite.results.questions.bracket import most_allowed
from suite.results.store.plan import Plan
from suite.results.store.rows import Row
from suite.run.predictions import source_case
from suite.run.runner import Runner
from suite.workloads.catalog import Workload


def search(runner: Runner, run: Callable[[Attempt, bool], Row], again: Collection[str] = ()) -> None:
    """Searches for the largest size that fits, for each stack of the plan; the first size has run already.
    `run(attempt, again)` runs one process.

    A size that a resumed set has isn't run again, unless its outcome is one of `again`: then `run` gets True.
    """
    plan, store = runner.plan, runner.store
    retry, order = store.next_retry(0), len(plan.cases)
    rows = [row for row in store.read()[0] if row["purpose"] == Purpose.MEMORY and Flag.HARNESS not in row["flags"]]
    last = {row["case_id"]: row for row in sorted(rows, key=lambda row: row.integer("retry"))}
    known = [row for row in last.values() if row["outcome"] not in again]
    for first in (planned.case for planned in plan.cases if not planned.unsupported):
        workload = runner.workloads[first.workload]
        most = most_allowed(workload, first.dims, plan.vary)
        by_size = {row.case.dims[plan.vary]: row for row in known if is_of(row.case, first, plan.vary)}
        while (size := size_after(memory_peaks(by_size), limit_of(by_size), plan, most)) is not None:
            order += 1
            case = at_size(first, size, plan.vary, workload)
            attempt = attempt_of(plan, case, Purpose.MEMORY, order=order, retry=retry)
            by_size[size] = run(attempt, case.case_id in last)


def search_predictions(runner: Runner, run: Callable[[Attempt, bool], Row], again: Collection[str] = ()) -> None:
    """Searches in the same way for each case and accelerator of the plan. The program of a size is captured once for
    all accelerators, and compiled for each accelerator until its largest size that fits is known."""
    plan, store = runner.plan, runner.store
    retry, order = store.next_retry(0), len(plan.cases)
    rows = sorted(store.read()[0], key=lambda row: row.integer("retry"))
    last = {
        row["case_id"]: row for row in rows if row["purpose"] == Purpose.PREDICT and Flag.HARNESS not in row["flags"]
    }
    known = [row for row in last.values() if row["outcome"] not in again]
    for first in (planned.case for planned in plan.predictions if not planned.unsupported):
        workload = runner.workloads[first.workload]
        limit, most = devices.find(first.device).chip.memory_bytes, most_allowed(workload, first.dims, plan.vary)
        by_size = {row.case.dims[plan.vary]: row for row in known if is_of(row.case, first, plan.vary)}
        while (size := size_after(needed_bytes(by_size), limit, plan, most)) is not None:
            order += 1
            case = at_size(first, size, plan.vary, workload)
            source = source_case(case, store.plan_file.target)
            if source.case_id not in runner.captured:
                capture = attempt_of(plan, source, Purpose.IR, order=order, retry=retry)
                run(capture, source.case_id in runner.captured)
            attempt = attempt_of(plan, case, Purpose.PREDICT, order=order, retry=retry)
            by_size[size] = run(attempt, case.case_id in last)


def at_size(first: Case, size: int, axis: str, workload: Workload) -> Case:
    """Returns a case at another size of the dim that is varied."""
    dims = dict(first.dims) | {axis: size}
    return replace(first, dims=dims, size=workload.size_of(dims, first.size))


def limit_of(by_size: Mapping[int, Row]) -> float | None:
    """Returns the memory limit of a search's processes in bytes; None before a row has it."""
    return next((row.limit_bytes for row in by_size.values() if row.limit_bytes), None)


def memory_peaks(by_size: Mapping[int, Row]) -> dict[int, float | None] | None:
    """Returns the peak of each size that fits, in bytes, and None for each that doesn't; None if a process ended in a
    way that says nothing about memory."""
    if any(row.outcome not in (Outcome.OK, *OUT_OF_MEMORY) for row in by_size.values()):
        return None
    return {size: row.peak_bytes if row.outcome == Outcome.OK else None for size, row in by_size.items()}


def needed_bytes(by_size: Mapping[int, Row]) -> dict[int, float | None] | None:
    """Returns the bytes that each predicted size needs, None for each that doesn't fit; None if a compilation ended in
    a way that says nothing about the accelerator, such as for want of the host's memory."""
    if any(row.outcome not in (Outcome.OK, Outcome.OOM_DEVICE, Outcome.OOM_COMPILE) for row in by_size.values()):
        return None
    return {
        size: float(row.mapping("prediction")["needed_bytes"]) if row.outcome == Outcome.OK else None
        for size, row in by_size.items()
    }


def size_after(seen: Mapping[int, float | None] | None, limit: float | None, plan: Plan, most: int) -> int | None:
    """Returns the next size of a search, by the bytes of each size that was `seen`. None ends the search: the largest
    size that fits is known, or `seen` is None."""
    return None if seen is None else next_size(seen, limit, plan.vary, most, plan.protocol.search_tolerance)


def is_of(case: Case, first: Case, axis: str) -> bool:
    """Whether a case belongs to the search that began with `first`."""
    return replace(case, dims=dict(case.dims) | {axis: first.dims[axis]}, size=first.size) == first
