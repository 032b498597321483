"""`./stackwars frontier`: memory processes, probe after probe, until the largest size that fits is known."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

from suite.case import OUT_OF_MEMORY, Attempt, Case, Flag, Outcome, Purpose
from suite.plan.frontier import most_allowed, next_size
from suite.results.store.rows import Row
from suite.run.runner import Runner


def search(runner: Runner, run: Callable[[Attempt, bool], Row], again: Collection[str] = ()) -> None:
    """Of each stack of the plan, whose first probes have been run. What a resumed set has isn't probed again, unless it
    ended as one of `again`; `run` is told so."""
    plan, store = runner.plan, runner.store
    retry, order = store.next_retry(0), len(plan.cases)
    found = [row for row in store.read()[0] if row["purpose"] == Purpose.MEMORY and Flag.HARNESS not in row["flags"]]
    last = {row["case_id"]: row for row in sorted(found, key=lambda row: row.integer("retry"))}
    known = [row for row in last.values() if row["outcome"] not in again]
    for first in (planned.case for planned in plan.cases if not planned.unsupported):
        workload = runner.workloads[first.workload]
        most = most_allowed(workload, first.dims, plan.vary)
        rows = {row.case.dims[plan.vary]: row for row in known if is_of(row.case, first, plan.vary)}
        while (size := ask_next(rows, plan.vary, most, plan.protocol.search_tolerance)) is not None:
            order += 1
            dims = dict(first.dims) | {plan.vary: size}
            case = replace(first, dims=dims, size=workload.size_of(dims, first.size))
            rows[size] = run(
                Attempt(
                    set_id=plan.set_id,
                    case=case,
                    block=0,
                    order=order,
                    replicate=1,
                    purpose=Purpose.MEMORY,
                    retry=retry,
                    seed=plan.seed,
                ),
                case.case_id in last,
            )


def ask_next(rows: Mapping[int, Row], axis: str, most: int, tolerance: float) -> int | None:
    """The next size; None where the largest is known, or where a probe ended so that nothing can be said."""
    if any(row.outcome not in (Outcome.OK, *OUT_OF_MEMORY) for row in rows.values()):
        return None
    seen = {size: row.peak_bytes if row.outcome == Outcome.OK else None for size, row in rows.items()}
    limit = next((row.limit_bytes for row in rows.values() if row.limit_bytes), None)
    return next_size(seen, limit, axis, most, tolerance)


def is_of(case: Case, first: Case, axis: str) -> bool:
    """Whether a case is a probe of the search that began with another."""
    return replace(case, dims=dict(case.dims) | {axis: first.dims[axis]}, size=first.size) == first
