"""What a device check found about memory: limits, pools, peaks and their compilers' plans."""

from __future__ import annotations

from collections.abc import Iterator

from suite import units
from suite.answers.device_checks import Check, log_of, of_stacks, own, told
from suite.answers.sentences import listed
from suite.case import OUT_OF_MEMORY, Outcome, Purpose
from suite.machine import devices
from suite.plan.search.curves import curve
from suite.results import Results
from suite.sets.rows import Row

PREALLOCATED = 0.5  # of the device's memory: a tiny step that holds as much doesn't hold it for itself
PLANNED_MAX = 1.25  # measured memory over the compiler's plan


def out_of_memory(target: str) -> tuple[Outcome, ...]:
    """Which outcomes say that a step didn't fit: on an accelerator the host's memory is another matter."""
    return OUT_OF_MEMORY if target == "cpu" else OUT_OF_MEMORY[1:]


def memory(results: Results) -> Iterator[Check]:
    """Whether a step that can't fit ends as out of memory by each framework's own evidence."""
    for stack, rows in own(results).items():
        row = rows[0]
        if row.outcome != Outcome.UNSUPPORTED:
            allowed = out_of_memory(row.text("target"))
            is_out = row.outcome in allowed
            yield Check(f"{stack} out of memory", is_out, told(row), log_of(results, row), listed(allowed))


def afterwards(results: Results) -> Iterator[Check]:
    """Whether the next process of a stack runs after one that was out of memory."""
    for stack, rows in own(results).items():
        row = rows[0]
        if row.outcome != Outcome.UNSUPPORTED:
            yield Check(f"{stack} afterwards", row.outcome == Outcome.OK, told(row), log_of(results, row), "ok")


def held(results: Results) -> Iterator[Check]:
    """Whether a tiny step leaves the device's memory alone, and the driver's figure contains the framework's."""
    sizes = devices.sizes(results.machine.get("gpus") or ())
    for stack, rows in own(results).items():
        row = max(rows, key=lambda row: row.number("nvml_bytes") or row.number("device_peak_bytes") or 0)
        total, driver, peak, pool = (
            row.number(f"{name}_bytes") for name in ("device_total", "nvml", "device_peak", "device_reserved")
        )
        total = total or max(sizes, default=None)
        if row["target"] == "cpu" or row.outcome == Outcome.UNSUPPORTED:
            continue
        if not total or not (taken := driver or pool):  # without the driver, a pool is known by the framework alone
            told_ = "the driver doesn't list this process (a container?), and its framework doesn't tell its pool"
            yield Check(f"preallocation by {stack}", None, told_)
            continue
        yield Check(
            f"preallocation by {stack}",
            taken <= PREALLOCATED * total,
            f"{units.quantity(taken)} of {units.quantity(total)} for a tiny step",
            "the framework preallocates: its memory figures are the pool's",
            f"at most {units.percent(PREALLOCATED)}",
        )
        if driver and peak:
            both = f"{units.quantity(peak)} by the framework, {units.quantity(driver)} by the driver"
            yield Check(f"memory of {stack}", peak <= driver, both, "one of them is misread", "at most the driver's")


def planned(results: Results) -> Iterator[Check]:
    """Whether the peak that was measured is the one that the step's compiler planned. A CPU's has the compiler in
    it."""
    for stack, rows in of_stacks(results, Purpose.MEMORY).items():
        fitted = [row for row in rows if row.outcome == Outcome.OK and row["target"] != "cpu"]
        if not fitted:
            continue
        row = max(fitted, key=lambda row: row.case.dims["batch"])
        plan, peak = plan_of(row), row.peak_bytes
        name = f"predicted memory of {stack}"
        if plan is None or not peak:
            yield Check(name, None, f"no {'plan' if plan is None else 'peak'} of {row.comparison_name}")
            continue
        yield Check(
            name,
            plan / PLANNED_MAX <= peak <= plan * PLANNED_MAX,
            f"{units.quantity(peak)} at the peak, {units.quantity(plan)} by its compiler's plan",
            "don't trust `predict` for this stack here",
            f"{units.ratio(1 / PLANNED_MAX)} to {units.ratio(PLANNED_MAX)}",
        )


def plan_of(row: Row) -> float | None:
    """Returns the bytes that a step's compiler planned for it; None without a plan."""
    parts = [row.number(f"program_{each}_bytes") for each in ("argument", "output", "temporary")]
    plan = sum(filter(None, parts)) - (row.number("program_aliased_bytes") or 0.0)
    return None if None in parts else plan


def largest(results: Results) -> Iterator[Check]:
    """Whether the batch at which a line through the compiler's plans reaches the limit is the largest that fits."""
    for stack, rows in of_stacks(results, Purpose.MEMORY).items():
        plans = {row.case.dims["batch"]: plan for row in rows if (plan := plan_of(row)) is not None}
        failed = [row.case.dims["batch"] for row in rows if row.outcome in out_of_memory(row.text("target"))]
        limit = next((row.limit_bytes for row in rows if row.limit_bytes), None)
        line = curve(plans, "batch")
        if not (line and limit and failed):
            tried = "; ".join(f"{row.case.dims['batch']:,}: {row.outcome}" for row in rows)
            yield Check(f"largest batch of {stack}", None, f"not found: {tried}")
            continue
        low, high, foretold = max(plans), min(failed), line.largest(limit)
        yield Check(
            f"largest batch of {stack}",
            low / PLANNED_MAX <= foretold < high * PLANNED_MAX,
            f"{low:,} fits into {units.quantity(limit)}, {high:,} doesn't; {foretold:,} by its compiler's plans",
            "this stack needs here what its compiler doesn't plan: trust `frontier`, not `predict --vary=batch`",
            f"{units.ratio(1 / PLANNED_MAX)} to {units.ratio(PLANNED_MAX)}",
        )
