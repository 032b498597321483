"""What a device check found: whether clock, precision, memory and gate hold on this machine's device.

Each function takes the rows of one of the check's steps (suite/cli/project/device.py) and gives its findings.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from suite import units
from suite.answers.sentences import counted, listed
from suite.case import Outcome, Purpose
from suite.ir.timeline import Category, Profile
from suite.plan.search.curves import curve
from suite.results import Results
from suite.results.limits import limits, roof_of
from suite.sets.rows import Row, accepted
from suite.verdicts.grouping import grouped

CLOCK_MAX = 0.02  # by which the clock's time and the device's differ in long steps
# Time of a step in a pipeline over its synced time. On a CPU the steps in flight share its caches.
PIPELINED_MAX = {"cpu": 1.05}
PIPELINED_MAX_OF_ACCELERATORS = 1.02
ALONE = 0.9  # a call that returns after this share of its step doesn't leave it in flight
LEAST_REACHED = 0.05  # share of the peak that a large product reaches, where a peak isn't misread
FLOOR_MAX = 1.05  # between two processes of one case
PREALLOCATED = 0.5  # of the device's memory: a tiny step that holds as much doesn't hold it for itself
PLANNED_MAX = 1.25  # measured memory over the compiler's plan
OUT_OF_MEMORY = (Outcome.OOM_HOST, Outcome.OOM_DEVICE, Outcome.OOM_COMPILE)


@dataclass(frozen=True, slots=True)
class Check:
    """One check: what was `found`, within which `limit`, whether that is `ok` (None: it is neither good nor bad, or
    couldn't be checked here), and the remedy if it isn't."""

    name: str
    ok: bool | None
    found: str
    remedy: str = ""
    limit: str = ""


Judge = Callable[[Results], Iterator[Check]]


def of_stacks(results: Results, purpose: Purpose = Purpose.TIMED) -> dict[str, list[Row]]:
    rows = [row for row in accepted(results.rows) if row["purpose"] == purpose]
    return grouped(rows, lambda row: row.stack_name)


def log_of(results: Results, row: Row) -> str:
    return f"read {results.path / 'logs' / row.attempt_name}"


def right(results: Results) -> Iterator[Check]:
    """Whether each stack runs and computes what the reference does, in the declared arithmetic."""
    for stack, rows in of_stacks(results).items():
        ran = [row for row in rows if row.outcome != Outcome.UNSUPPORTED]
        for row in rows if not ran else ():
            yield Check(f"{stack} runs", None, f"{row.outcome}: {row.text('reason')}")
            break
        failed = [row for row in ran if row.outcome != Outcome.OK]
        shares = [
            e / t for row in ran if (e := row.number("relative_error")) is not None and (t := row.number("tolerance"))
        ]
        worst = f"; the worst error is {units.percent(max(shares))} of what is allowed" if shares else ""
        if failed:
            first = failed[0]
            told = f"{first.comparison_name}: {first.outcome}: {first.text('reason')}"
            yield Check(f"{stack} computes right", ok=False, found=told, remedy=log_of(results, first), limit="all ok")
        elif ran:
            yield Check(f"{stack} computes right", ok=True, found=f"{counted(len(ran), 'step')} ok{worst}")


def precision(results: Results) -> Iterator[Check]:
    """Whether the probe product was computed as declared."""
    rows = [row for row in accepted(results.rows) if row["purpose"] == Purpose.TIMED and row["precision_observed"]]
    for declared, of in grouped(rows, lambda row: row.text("precision")).items():
        others = [row for row in of if row["precision_observed"] != declared]
        found = Counter(row.text("precision_observed") for row in of)
        told = ", ".join(f"{word} in {counted(count, 'process')}" for word, count in found.items())
        remedy = log_of(results, others[0]) if others else ""
        yield Check(f"products declared {declared}", not others, told, remedy, f"{declared} alone")


def clock(results: Results) -> Iterator[Check]:
    """Whether the synced clock has the device's time: by the clock of the framework's profiler, long steps take as long
    from their first operation to the end of the last one. Whether submitting several steps gains nothing that can't
    be."""
    profiled = {row.stack_name: row.decoded("profile", Profile) for row in accepted(results.rows) if row.get("profile")}
    for stack, rows in of_stacks(results).items():
        if stack.endswith(UNWAITED):
            yield forgotten(results, stack, rows)
            continue
        profile = profiled.get(stack)
        if profile is None or profile.span_seconds is None:
            yield Check(f"clock of {stack}", None, "no profiler shows its operations")
        else:
            busy = sum(profile.categories.values()) - profile.categories.get(Category.HOST, 0.0)
            yield Check(
                f"clock of {stack}",
                abs(profile.span_seconds / profile.seconds - 1) <= CLOCK_MAX,
                f"{units.seconds(profile.seconds)} a step by the clock, {units.seconds(profile.span_seconds)} by "
                f"{profile.told_by}; operations run {units.percent(busy / profile.seconds)} of it",
                "one of the two clocks is off, or ours stops before the device has: trust no time of this stack",
                f"at most {units.percent(CLOCK_MAX)} apart",
            )
        synced, pipelined, dispatch = (
            median(values) if (values := [m for row in rows if (m := row.median(clock)) is not None]) else None
            for clock in ("synced", "pipelined", "dispatch")
        )
        if synced and pipelined and dispatch:
            most = PIPELINED_MAX.get(rows[0].text("target"), PIPELINED_MAX_OF_ACCELERATORS)
            together = dispatch < ALONE * synced
            yield Check(
                f"pipeline of {stack}",
                pipelined <= most * synced if together else None,
                f"{units.seconds(pipelined)} a step, {units.seconds(synced)} alone; a call returns after "
                f"{units.percent(dispatch / synced)} of it{'' if together else ': no two steps are in flight'}",
                "steps that are in flight together disturb each other: look at memory and clocks of the device",
                f"at most {units.ratio(most)} of a step alone",
            )


UNWAITED = "_unwaited"  # how stacks end that forget to wait (suite/stacks/unwaited)


def forgotten(results: Results, stack: str, rows: Sequence[Row]) -> Check:
    name = f"{stack.removesuffix(UNWAITED)} that forgets to wait"
    caught = [row for row in rows if "implausible" in row.flags]
    if not any(row.outcome == Outcome.OK for row in rows):
        return Check(name, None, next((f"{row.outcome}: {row.text('reason')}" for row in rows), "not run"))
    told = caught[0].text("reason") if caught else "its times passed for plausible"
    remedy = "this device's peaks aren't known or too high (suite/machine/published_peaks.toml): trust no short time"
    return Check(name, bool(caught), told, remedy, "implausible")


def ceilings(results: Results) -> Iterator[Check]:
    """Whether no step is faster than the device can be, and large products reach a fair share of the peak."""
    reached: dict[tuple[str, str], tuple[float, str, Row]] = {}
    for stack, rows in of_stacks(results).items():
        for row in rows if not stack.endswith(UNWAITED) else ():
            took = row.median()
            for limit in limits(row, results.roof):
                if took and limit.seconds:
                    key = row.text("precision"), limit.kind
                    reached[key] = max(
                        reached.get(key, (0.0, "", row)), (limit.seconds / took, limit.whose, row), key=lambda it: it[0]
                    )
    for (declared, kind), (share, whose, row) in reached.items():
        roof, _ = roof_of(row, results.roof)
        known = roof is not None and declared in roof.flops_per_second  # else only an upper limit is known
        least = LEAST_REACHED if known else 0.0
        yield Check(
            f"{declared}: {kind} of {row['workload']}",
            least <= share <= 1,
            f"{units.percent(share)} by {row.stack_name}, of what is {whose}",
            "the peak or the device's name is misread (suite/machine/published_peaks.toml), or a step isn't done",
            f"{units.percent(least)} to 100 %",
        )
    if not reached:
        yield Check("ceilings", None, "no peak of this device is known")


def memory(results: Results) -> Iterator[Check]:
    """Whether a step that can't fit ends as out of memory by each framework's own evidence, and the next one runs."""
    rows = [row for row in accepted(results.rows) if row.outcome != Outcome.UNSUPPORTED]
    for stack, of in grouped(rows, lambda row: row.stack_name).items():
        large, small = (
            max(of, key=lambda row: row.number("bytes_floor") or 0),
            min(of, key=lambda row: row.number("bytes_floor") or 0),
        )
        told = f"{large.outcome}: {large.text('reason')}"
        is_out = large.outcome in OUT_OF_MEMORY
        yield Check(f"{stack} out of memory", is_out, told, log_of(results, large), listed(OUT_OF_MEMORY))
        yield Check(f"{stack} afterwards", small.outcome == Outcome.OK, small.outcome, log_of(results, small), "ok")


def held(results: Results) -> Iterator[Check]:
    """Whether a tiny step leaves the device's memory alone, and the driver's figure contains the framework's."""
    for stack, rows in of_stacks(results).items():
        row = max(rows, key=lambda row: row.number("nvml_bytes") or row.number("device_peak_bytes") or 0)
        total, driver, peak = (row.number(name) for name in ("device_total_bytes", "nvml_bytes", "device_peak_bytes"))
        if total and (taken := driver or peak):
            yield Check(
                f"preallocation by {stack}",
                taken <= PREALLOCATED * total,
                f"{units.quantity(taken)} of {units.quantity(total)} for a tiny step",
                "the framework preallocates: its memory figures are the pool's",
                f"at most {units.percent(PREALLOCATED)}",
            )
        if driver and peak:
            told = f"{units.quantity(peak)} by the framework, {units.quantity(driver)} by the driver"
            yield Check(f"memory of {stack}", peak <= driver, told, "one of them is misread", "at most the driver's")


def planned(results: Results) -> Iterator[Check]:
    """Whether the peak that was measured is the one that the step's compiler planned."""
    for stack, rows in of_stacks(results).items():
        for row in rows[:1] if not stack.endswith(UNWAITED) else ():
            plan, peak = plan_of(row), row.peak_bytes
            if row["target"] == "cpu" or plan is None or not peak:
                continue
            yield Check(
                f"predicted memory of {stack}",
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
        failed = [row.case.dims["batch"] for row in rows if row.outcome in OUT_OF_MEMORY]
        limit = next((row.limit_bytes for row in rows if row.limit_bytes), None)
        line = curve(plans, "batch")
        if not (line and limit and failed):
            told = "; ".join(f"{row.case.dims['batch']:,}: {row.outcome}" for row in rows)
            yield Check(f"largest batch of {stack}", None, f"not found: {told}")
            continue
        low, high, foretold = max(plans), min(failed), line.largest(limit)
        yield Check(
            f"largest batch of {stack}",
            low / PLANNED_MAX <= foretold < high * PLANNED_MAX,
            f"{low:,} fits into {units.quantity(limit)}, {high:,} doesn't; {foretold:,} by its compiler's plans",
            "don't trust `predict --vary=batch` for this stack here",
            f"{units.ratio(1 / PLANNED_MAX)} to {units.ratio(PLANNED_MAX)}",
        )


def noise(results: Results) -> Iterator[Check]:
    """How far two processes of one case are apart, and whether the device slowed down."""
    for stack, rows in of_stacks(results).items():
        medians = [took for row in rows if (took := row.median()) is not None]
        if len(medians) > 1:
            apart = max(medians) / min(medians)
            yield Check(
                f"noise of {stack}",
                apart <= FLOOR_MAX,
                f"{counted(len(medians), 'process')} of one case are {units.ratio(apart)} apart",
                "close other programs, fix the clocks; smaller differences than this mean nothing",
                f"at most {units.ratio(FLOOR_MAX)}",
            )
    flagged = Counter(flag for row in accepted(results.rows) for flag in row.flags if flag == "noisy")
    yield Check("disturbed processes", not flagged, counted(flagged["noisy"], "process"), "find what else runs", "0")
