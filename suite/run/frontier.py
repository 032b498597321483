"""Searches for the largest size that fits, one process after the other: memory processes for `./stackwars frontier`,
captures and compilations for `./stackwars predict --vary`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import partial

from suite.case import OUT_OF_MEMORY, Attempt, Case, Flag, Outcome, Purpose
from suite.plan.frontier import next_size
from suite.plan.search.bracket import most_allowed
from suite.predict import devices
from suite.run.predictions import source_case
from suite.run.runner import Runner
from suite.sets.plan import Plan
from suite.sets.rows import Row


def search(runner: Runner, run: Callable[[Attempt, bool], Row], purpose: Purpose, again: Collection[str] = ()) -> None:
    """Searches for the largest size that fits, for each stack of the plan (purpose `memory`) or for each of its cases
    and accelerators (`predict`); the first size has run already. `run(attempt, again)` runs one process.

    A size that a resumed set has isn't run again, unless its outcome is one of `again`: then `run` gets True. The
    program of a size is captured once for all accelerators, and compiled for each until its largest size is known.
    """
    plan, store = runner.plan, runner.store
    attempt = partial(Attempt, set_id=plan.set_id, block=0, replicate=1, retry=store.next_retry(0), seed=plan.seed)
    position = len(plan.cases)
    rows = [row for row in store.read()[0] if row["purpose"] == purpose and Flag.HARNESS not in row["flags"]]
    last = {row["case_id"]: row for row in sorted(rows, key=lambda row: row["retry"])}
    known = [row for row in last.values() if row["outcome"] not in again]
    cases = plan.predictions if purpose is Purpose.PREDICT else plan.cases
    for first in (planned.case for planned in cases if not planned.unsupported):
        workload = runner.workloads[first.workload]
        most = most_allowed(workload, first.dims, plan.vary)
        by_size = {row.case.dims[plan.vary]: row for row in known if is_of(row.case, first, plan.vary)}
        while (size := size_after(by_size, first, plan, most, purpose)) is not None:
            position += 1
            dims = dict(first.dims) | {plan.vary: size}
            case = replace(first, dims=dims, size=workload.size_of(dims, first.size))
            if purpose is Purpose.PREDICT:
                source = source_case(case, store.plan_file.target)
                captured = source.case_id in runner.captured
                if not captured:
                    run(attempt(case=source, purpose=Purpose.IR, position=position), captured)
            by_size[size] = run(attempt(case=case, purpose=purpose, position=position), case.case_id in last)


def size_after(by_size: Mapping[int, Row], first: Case, plan: Plan, most: int, purpose: Purpose) -> int | None:
    """Returns the next size of a search by the rows so far. None ends the search: the largest size that fits is known,
    or a process ended in a way that says nothing about memory, such as a compilation for want of the host's."""
    too_large = (Outcome.OOM_DEVICE, Outcome.OOM_COMPILE) if purpose is Purpose.PREDICT else OUT_OF_MEMORY
    if any(row.outcome not in (Outcome.OK, *too_large) for row in by_size.values()):
        return None
    limit: float | None
    if purpose is Purpose.PREDICT:
        limit = devices.find(first.device).chip.memory_bytes
    else:
        limit = next((row.limit_bytes for row in by_size.values() if row.limit_bytes), None)
    seen = {size: bytes_taken(row) if row.outcome == Outcome.OK else None for size, row in by_size.items()}
    return next_size(seen, limit, plan.vary, most, plan.protocol.search_tolerance)


def bytes_taken(row: Row) -> float | None:
    return row.peak_bytes if row["purpose"] == Purpose.MEMORY else float(row.mapping("prediction")["needed_bytes"])


def is_of(case: Case, first: Case, axis: str) -> bool:
    return replace(case, dims=dict(case.dims) | {axis: first.dims[axis]}, size=first.size) == first
