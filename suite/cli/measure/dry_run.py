"""`./stackwars run --dry-run`: prints which processes would run, and about how long they would take."""

from __future__ import annotations

from collections import Counter
from typing import Any

from suite import units
from suite.case import Planned, Purpose, dims_text
from suite.cli.terminal.console import print_table
from suite.launch.attempt import spare_bytes
from suite.plan.durations import plan_seconds
from suite.plan.layout import runnable
from suite.plan.memory import too_tight
from suite.reference.floor import floor
from suite.run.run import Run
from suite.stacks.names import case_name

SAMPLED = {
    "alone": "Sampled one process after another: each takes its samples as soon as it is warm, and ends.",
    "rounds": "Sampled in rounds: the warm processes of a question stay alive and are sampled in turn.",
}
RUN, COMPILED = "runs", "only compiled"  # what becomes of a case that has a process; else it is the reason for none


def forecast(run: Run, planned: Planned) -> str:
    """Returns what will become of a case, as far as that is known before it runs."""
    case = planned.case
    if planned.unsupported:
        return planned.unsupported
    if planned.too_large:
        return f"runs out of memory: {planned.too_large}"
    if run.plan.purpose is Purpose.IR and run.plan.protocol.abstract:
        return COMPILED
    if run.workloads[case.workload].is_probe:
        return RUN
    least = floor(run.workloads[case.workload].spec, case.dims, case.pass_).least
    limit = case.limit_memory_bytes or spare_bytes()
    if least > limit:
        return f"runs out of memory: tensors of {units.quantity(least)}, a limit of {units.quantity(limit)}"
    return RUN


def print_plan(run: Run) -> None:
    """Prints the cases, the numbers of processes and blocks, the engine and an estimate of the time."""
    plan = run.plan
    rows = [[case_name(planned.case), dims_text(planned.case.dims), forecast(run, planned)] for planned in plan.cases]
    print_table("Cases", ["case", "dims", "verdict"], rows)
    attempts = runnable(plan)
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
        print(SAMPLED[plan.protocol.sampling])
    else:
        sparing = "" if plan.exhaustive else ", fewer where a smaller case runs out of it"
        print(f"{len(plan.cases)} cases; {of[Purpose.MEMORY]} processes that ask what memory they need{sparing}.")
    if of[Purpose.PREDICT]:
        devices = ", ".join(dict.fromkeys(planned.case.device for planned in plan.predictions))
        print(f"After them {of[Purpose.PREDICT]} processes compile these programs for {devices}.")
    if of[Purpose.IR] and plan.purpose is not Purpose.IR:
        print(f"After them {of[Purpose.IR]} processes more, untimed, keep what is handed to the compiler.")
    if of[Purpose.EXPLAIN] and plan.purpose is not Purpose.EXPLAIN:
        print(
            f"After them {of[Purpose.EXPLAIN]} processes more, untimed, tell which kernels do the work and what "
            "holds the memory."
        )
    if of[Purpose.PROFILE] and plan.purpose is not Purpose.EXPLAIN:
        print(f"After them {of[Purpose.PROFILE]} processes more tell where the time goes.")
    print(run.engine.why)
    for sentence in too_tight(plan.cases):
        print(sentence)
    time = units.duration(plan_seconds(plan, run.workloads))
    print(f"About {time} {f'for the first {plan.protocol.blocks} block(s) ' if timed else ''}on a small machine.")


def plan_json(run: Run) -> dict[str, Any]:
    """Returns the same for programs: `processes` by purpose, for the blocks that run whatever the spread; `seconds` on
    a small machine."""
    plan = run.plan
    attempts = runnable(plan)
    return {
        "purpose": str(plan.purpose),
        "baseline": plan.baseline,
        "engine": run.engine.name,
        "cases": [case_json(run, planned) for planned in plan.cases],
        "processes": {str(purpose): n for purpose, n in Counter(attempt.purpose for attempt in attempts).items()},
        "blocks": plan.protocol.blocks,
        "blocks_max": plan.protocol.blocks_max,
        "sampling": plan.protocol.sampling,
        "seconds": plan_seconds(plan, run.workloads),
        "warnings": [*too_tight(plan.cases)],
    }


def case_json(run: Run, planned: Planned) -> dict[str, Any]:
    """Returns one case for programs, with what will become of it."""
    fate = forecast(run, planned)
    return planned.case.to_json() | {
        "case_name": case_name(planned.case),
        "runs": fate in (RUN, COMPILED),
        "verdict": fate,
    }
