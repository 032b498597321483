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
from suite.run.start.run import Run
from suite.stacks.names import case_name

SAMPLED = {
    "alone": "Sampled alone: each process takes all its samples once it is warm, and ends before the next one starts.",
    "rounds": "Sampled in rounds: the warm processes of a question stay alive and are sampled in turn.",
}
RUN, COMPILED = "runs", "only compiled"  # the forecasts of a case that gets a process


def forecast(run: Run, planned: Planned) -> str:
    """Returns the verdict on a case as far as it is known before it runs: `runs`, `only compiled`, or why it can't
    succeed."""
    case = planned.case
    if planned.unsupported:
        return planned.unsupported
    if planned.too_large:
        return f"runs out of memory: {planned.too_large}"
    if run.plan.purpose is Purpose.IR and run.plan.protocol.abstract:
        return COMPILED
    if run.workloads[case.workload].is_probe:
        return RUN
    least = floor(run.workloads[case.workload], case.dims, case.pass_).least
    limit = case.limit_memory_bytes or spare_bytes()
    if least > limit:
        return f"runs out of memory: tensors of {units.quantity(least)}, a limit of {units.quantity(limit)}"
    return RUN


def print_plan(run: Run) -> None:
    """Prints the cases, the numbers of processes and blocks, the engine and an estimate of the time."""
    plan = run.plan
    attempts = runnable(plan)
    of = Counter(attempt.purpose for attempt in attempts)
    most = plan.protocol.blocks_max
    stage = f", up to {most} if the intervals are too wide" if most > plan.protocol.blocks else ""
    twin = f", including the A/A twin of {plan.baseline}" if plan.twin else ""
    timed = plan.purpose is Purpose.TIMED
    time = units.duration(plan_seconds(plan, run.workloads))
    print(f"About {time} {f'for the first {plan.protocol.blocks} block(s) ' if timed else ''}on a small machine.")
    if plan.purpose is Purpose.IR:
        print(f"{len(plan.cases)} cases; {of[Purpose.IR]} processes that keep the programs handed to the compiler.")
    elif plan.purpose is Purpose.EXPLAIN:
        print(
            f"{len(plan.cases)} cases; {of[Purpose.EXPLAIN]} processes that show which kernels do the work, "
            f"{of[Purpose.PROFILE]} that show where the time goes."
        )
    elif plan.purpose is Purpose.PROBE:
        print(f"{len(plan.cases)} cases; {of[Purpose.PROBE]} processes that observe how a stack behaves.")
    elif timed:
        processes = of[Purpose.TIMED] + of[Purpose.PRIME]
        print(f"{len(plan.cases)} cases; {processes} processes in {plan.protocol.blocks} block(s){stage}{twin}.")
        print(SAMPLED[plan.protocol.sampling])
    else:
        fewer = "" if plan.exhaustive else ", fewer if a smaller case runs out of memory"
        print(f"{len(plan.cases)} cases; {of[Purpose.MEMORY]} processes that measure the peak memory{fewer}.")
    if of[Purpose.PREDICT]:
        devices = ", ".join(dict.fromkeys(planned.case.device for planned in plan.predictions))
        print(f"After them {of[Purpose.PREDICT]} processes compile these programs for {devices}.")
    if of[Purpose.IR] and plan.purpose is not Purpose.IR:
        print(f"After them {of[Purpose.IR]} more processes, untimed, keep the programs handed to the compiler.")
    if of[Purpose.EXPLAIN] and plan.purpose is not Purpose.EXPLAIN:
        print(
            f"After them {of[Purpose.EXPLAIN]} more processes, untimed, show which kernels do the work and what "
            "holds the memory."
        )
    if of[Purpose.PROFILE] and plan.purpose is not Purpose.EXPLAIN:
        print(f"After them {of[Purpose.PROFILE]} more processes show where the time goes.")
    print(run.engine.why)
    for sentence in too_tight(plan.cases):
        print(sentence)
    rows = [[case_name(planned.case), dims_text(planned.case.dims), forecast(run, planned)] for planned in plan.cases]
    print_table("Cases", ["case", "dims", "verdict"], rows)


def plan_json(run: Run) -> dict[str, Any]:
    """Returns what `print_plan` prints, as JSON. `processes` are counted by purpose, without the blocks that a run adds
    if intervals are too wide; `seconds` are for a small machine."""
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
    """Returns one case as JSON, with its forecast."""
    verdict = forecast(run, planned)
    return planned.case.to_json() | {
        "case_name": case_name(planned.case),
        "runs": verdict in (RUN, COMPILED),
        "verdict": verdict,
    }
