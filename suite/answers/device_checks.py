"""What a device check found: whether clock, precision, memory and gate hold on this machine's device.

Each function takes the rows of one of the check's steps (suite/cli/project/device.py) and gives its findings; those
about memory are in suite/answers/device_memory.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from suite import units
from suite.answers.sentences import counted
from suite.case import Outcome, Purpose
from suite.ir.timeline import Category, Profile
from suite.results import Results
from suite.results.limits import SpeedLimit, limits
from suite.sets.rows import Row, accepted
from suite.verdicts.grouping import grouped

CLOCK_MAX = 0.02  # by which the clock's time and the device's differ in long steps
# Time of a step in a pipeline over its synced time. On a CPU the steps in flight share its caches.
PIPELINED_MAX = {"cpu": 1.05}
PIPELINED_MAX_OF_ACCELERATORS = 1.02
ALONE = 0.9  # a call that returns after this share of its step doesn't leave it in flight
LEAST_REACHED = 0.05  # share of the peak that a large product reaches, where a peak isn't misread
FLOOR_MAX = 1.05  # between two processes of one case
UNWAITED = "_unwaited"  # how stacks end that forget to wait (suite/stacks/unwaited)


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


def own(results: Results) -> dict[str, list[Row]]:
    """The timed rows of each stack, without those that forget to wait."""
    return {stack: rows for stack, rows in of_stacks(results).items() if not stack.endswith(UNWAITED)}


def log_of(results: Results, row: Row) -> str:
    return f"read {results.path / 'logs' / row.attempt_name}"


def told(row: Row) -> str:
    return f"{row.comparison_name}: {row.outcome}{': ' if row['reason'] else ''}{row.text('reason')}"


def right(results: Results) -> Iterator[Check]:
    """Whether each stack runs and computes what the reference does, in the declared arithmetic."""
    for stack, rows in of_stacks(results).items():
        tried = [row for row in rows if row.outcome != Outcome.UNSUPPORTED]
        if not tried:
            missing = rows[0].text("reason").startswith(f"no {rows[0]['target']} device")
            remedy = log_of(results, rows[0]) if missing else ""
            limit = "finds the device" if missing else ""
            yield Check(f"{stack} runs", False if missing else None, told(rows[0]), remedy, limit)
        failed = [row for row in tried if row.outcome != Outcome.OK]
        shares = [
            e / t for row in tried if (e := row.number("relative_error")) is not None and (t := row.number("tolerance"))
        ]
        worst = f"; the worst error is {units.percent(max(shares))} of what is allowed" if shares else ""
        if failed:
            remedy = log_of(results, failed[0])
            yield Check(f"{stack} computes right", ok=False, found=told(failed[0]), remedy=remedy, limit="all ok")
        elif tried:
            yield Check(f"{stack} computes right", ok=True, found=f"{counted(len(tried), 'step')} ok{worst}")


def ran(results: Results) -> Iterator[Check]:
    """What failed of a step whose figures others judge, or has times that can't be true."""
    for stack, rows in own(results).items():
        ended = (Outcome.OK, Outcome.UNSUPPORTED)
        bad = [row for row in rows if row.outcome not in ended or "implausible" in row.flags]
        if bad:
            yield Check(f"{stack} runs", ok=False, found=told(bad[0]), remedy=log_of(results, bad[0]), limit="all ok")


def precision(results: Results) -> Iterator[Check]:
    """Whether the probe product was computed as declared."""
    rows = [row for row in accepted(results.rows) if row["purpose"] == Purpose.TIMED and row["precision_observed"]]
    for declared, of in grouped(rows, lambda row: row.text("precision")).items():
        others = [row for row in of if row["precision_observed"] != declared]
        found = Counter(row.text("precision_observed") for row in of)
        seen = ", ".join(f"{word} in {counted(count, 'process')}" for word, count in found.items())
        remedy = log_of(results, others[0]) if others else ""
        yield Check(f"products declared {declared}", not others, seen, remedy, f"{declared} alone")


def clock(results: Results) -> Iterator[Check]:
    """Whether the synced clock has the device's time: by the clock of the framework's profiler, long steps take as long
    from their first operation to the end of the last one. Whether submitting several steps gains nothing that can't
    be."""
    profiled = {row.stack_name: row for row in accepted(results.rows) if row["purpose"] == Purpose.PROFILE}
    unwaited = {stack: rows for stack, rows in of_stacks(results).items() if stack.endswith(UNWAITED)}
    yield from (forgotten(results, stack, rows) for stack, rows in unwaited.items())
    if not unwaited:
        yield Check("a stack that forgets to wait", None, "its frameworks aren't here")
    for stack, rows in own(results).items():
        observed = profiled.get(stack)
        profile = observed.decoded("profile", Profile) if observed and observed.get("profile") else None
        if profile is None or profile.span_seconds is None:
            failed = told(observed) if observed and observed.outcome != Outcome.OK else ""
            yield Check(f"clock of {stack}", None, failed or "no profiler shows its operations")
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


def forgotten(results: Results, stack: str, rows: Sequence[Row]) -> Check:
    name = f"{stack.removesuffix(UNWAITED)} that forgets to wait"
    caught = [row for row in rows if "implausible" in row.flags]
    if not any(row.outcome == Outcome.OK for row in rows):
        return Check(name, None, next((f"{row.outcome}: {row.text('reason')}" for row in rows), "not run"))
    said = caught[0].text("reason") if caught else "its times passed for plausible"
    remedy = "this device's peaks aren't known or too high (suite/machine/published_peaks.toml): trust no short time"
    return Check(name, bool(caught), said, remedy, "implausible")


def bounds(results: Results) -> Iterator[tuple[float, SpeedLimit, Row]]:
    """Yields each timed row that a limit binds: the share of its median that its least time is, that limit, the row."""
    for row in (row for rows in own(results).values() for row in rows):
        binding = max(limits(row, results.roof), key=lambda limit: limit.seconds, default=None)
        took = row.median()
        if took and binding and binding.seconds:
            yield binding.seconds / took, binding, row


def bounded(results: Results) -> Iterator[Check]:
    """Whether every step takes at least as long as its work must."""
    steps = [*bounds(results)]
    if not steps:
        yield Check("steps over their least time", None, "no peak of this device is known")
        return
    share, limit, row = max(steps, key=lambda it: it[0])
    yield Check(
        "steps over their least time",
        share <= 1,
        f"{counted(len(steps), 'step')}; the nearest, {row.comparison_name} by {row.stack_name}, takes "
        f"{units.seconds(row.median())}: {limit.words}",
        "the peak or the device's name is misread (suite/machine/published_peaks.toml), or a step isn't done",
        "none is shorter",
    )


def ceilings(results: Results) -> Iterator[Check]:
    """Whether no step is faster than the device can be, and large ones reach a fair share of what binds them."""
    reached: dict[tuple[str, str, str], tuple[float, SpeedLimit, Row]] = {}
    for step in bounds(results):
        _, limit, row = step
        key = row.text("precision"), limit.kind, row.text("workload")
        reached[key] = max(reached.get(key, step), step, key=lambda it: it[0])
    for (declared, kind, workload), (share, limit, row) in reached.items():
        known = limit.margin > 1  # else only an upper limit is known
        least, most = (LEAST_REACHED, limit.margin if row["target"] == "cpu" else 1.0) if known else (0.0, 1.0)
        of_peak = share * limit.margin
        yield Check(
            f"{declared}: {kind} of {workload}",
            least <= of_peak <= most,
            f"{units.percent(of_peak)} by {row.stack_name}; {limit.words}",
            "the peak or the device's name is misread (suite/machine/published_peaks.toml), or a step isn't done",
            f"{units.percent(least)} to {units.percent(most)}",
        )
    if not reached:
        yield Check("ceilings", None, "no peak of this device is known")


def noise(results: Results) -> Iterator[Check]:
    """How far two processes of one case are apart, and whether the device slowed down."""
    for stack, rows in own(results).items():
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
    remedy = "find what else runs, or what slows the device: heat, power"
    yield Check("noisy processes", not flagged, counted(flagged["noisy"], "process"), remedy, "0")
