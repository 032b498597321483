"""`./stackwars run --dry-run`: what would run, and about how long."""

from __future__ import annotations

from collections import Counter
from typing import Any

from suite import units
from suite.case import Planned, Purpose, dims_text
from suite.cli.console import print_table
from suite.launch.attempt import spare_bytes
from suite.plan.memory import too_tight
from suite.reference.floor import floor
from suite.run.start import Run

RUN, COMPILED = "runs", "only compiled"  # verdicts on cases that aren't given up before they run


def verdict(asked: Run, planned: Planned) -> str:
    """What will become of a case, as far as that is known before it runs."""
    case = planned.case
    if planned.unsupported:
        return planned.unsupported
    if planned.too_large:
        return f"runs out of memory: {planned.too_large}"
    if asked.plan.purpose is Purpose.IR and asked.plan.protocol.abstract:
        return COMPILED
    if asked.workloads[case.workload].is_probe:
        return RUN
    least = floor(asked.workloads[case.workload].spec, case.dims, case.pass_).least
    limit = case.limit_memory_bytes or spare_bytes()
    if least > limit:
        return f"runs out of memory: tensors of {units.quantity(least)}, a limit of {units.quantity(limit)}"
    return RUN


def print_plan(asked: Run) -> None:
    """Cases, blocks, engine and an estimate of the time, for --dry-run."""
    plan = asked.plan
    rows = [[each.case.case_name, dims_text(each.case.dims), verdict(asked, each)] for each in plan.cases]
    print_table("Cases", ["case", "dims", "verdict"], rows)
    attempts = [attempt for attempt in plan.attempts() if plan.reason(attempt.case) is None]
    of = Counter(attempt.purpose for attempt in attempts)
    most = plan.protocol.blocks_max
    stage = f", up to {most} if their spread asks for it" if most > plan.protocol.blocks else ""
    twin = f", the A/A twin of {plan.baseline} included" if plan.twin else ""
    timed = plan.purpose is Purpose.TIMED
    if plan.purpose is Purpose.IR:
        print(f"{len(plan.cases)} cases; {of[Purpose.IR]} processes that keep what is handed to the compiler.")
    elif plan.purpose is Purpose.EXPLAIN:
        print(
            f"{len(plan.cases)} cases; {of[Purpose.EXPLAIN]} processes that tell which kernels do the work, "
            f"{of[Purpose.PROFILE]} that tell where the time goes."
        )
    elif plan.purpose is Purpose.PROBE:
        print(f"{len(plan.cases)} cases; {of[Purpose.PROBE]} processes that observe how a stack behaves.")
    elif timed:
        processes = of[Purpose.TIMED] + of[Purpose.PRIME]
        print(f"{len(plan.cases)} cases; {processes} processes in {plan.protocol.blocks} block(s){stage}{twin}.")
    else:
        sparing = "" if plan.exhaustive else ", fewer where a smaller case runs out of it"
        print(f"{len(plan.cases)} cases; {of[Purpose.MEMORY]} processes that ask what memory they need{sparing}.")
    if of[Purpose.IR] and plan.purpose is not Purpose.IR:
        print(f"After them {of[Purpose.IR]} processes more, untimed, keep what is handed to the compiler.")
    if of[Purpose.EXPLAIN] and plan.purpose is not Purpose.EXPLAIN:
        print(
            f"After them {of[Purpose.EXPLAIN]} processes more, untimed, tell which kernels do the work and what "
            "holds the memory."
        )
    if of[Purpose.PROFILE] and plan.purpose is not Purpose.EXPLAIN:
        print(f"After them {of[Purpose.PROFILE]} processes more tell where the time goes.")
    print(asked.engine.why)
    for sentence in too_tight(plan.cases):
        print(sentence)
    time = units.duration(plan.seconds(asked.workloads))
    print(f"About {time} {f'for the first {plan.protocol.blocks} block(s) ' if timed else ''}on a small machine.")


def plan_json(asked: Run) -> dict[str, Any]:
    """The same for programs: `processes` by purpose, of the first stage of blocks; seconds on a small machine."""
    plan = asked.plan
    attempts = [attempt for attempt in plan.attempts() if plan.reason(attempt.case) is None]
    return {
        "purpose": str(plan.purpose),
        "baseline": plan.baseline,
        "engine": asked.engine.name,
        "cases": [case_json(asked, planned) for planned in plan.cases],
        "processes": {str(purpose): count for purpose, count in Counter(each.purpose for each in attempts).items()},
        "blocks": plan.protocol.blocks,
        "blocks_max": plan.protocol.blocks_max,
        "seconds": plan.seconds(asked.workloads),
        "warnings": [*too_tight(plan.cases)],
    }


def case_json(asked: Run, planned: Planned) -> dict[str, Any]:
    """One case, and what will become of it."""
    told = verdict(asked, planned)
    return planned.case.to_json() | {
        "case_name": planned.case.case_name,
        "runs": told in (RUN, COMPILED),
        "verdict": told,
    }
