"""`./stackwars run --dry-run`: prints which processes would run, and about how long they would take."""

from __future__ import annotations

from collections import Counter
from typing import Any

from suite import units
from suite.case import Planned, Purpose, dims_text
from suite.cli.terminal.output import print_table
from suite.launch.attempt import spare_bytes
from suite.plan.durations import plan_seconds
from suite.plan.layout import AIMS, runnable
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
    plan, of = run.plan, Counter(attempt.purpose for attempt in runnable(run.plan))
    first, most = plan.protocol.blocks, plan.protocol.blocks_max
    timed = plan.purpose is Purpose.TIMED
    time = units.duration(plan_seconds(plan, run.workloads))
    print(f"About {time} {f'for the first {first} block(s) ' if timed else ''}on a small machine.")
    processes = of[plan.purpose] + of[Purpose.PRIME]
    if timed:
        stage = f", up to {most} if the intervals are too wide" if most > first else ""
        if plan.protocol.until_decided:
            bound = units.duration(plan.protocol.at_most_seconds)
            stage = f", then further blocks of what isn't decided, until {bound} are over"
        twin = f", including the A/A twin of {plan.baseline}" if plan.twin else ""
        print(f"{len(plan.cases)} cases; {processes} processes in {first} block(s){stage}{twin}.")
        print(SAMPLED[plan.protocol.sampling])
    else:
        fewer = ", fewer if a smaller case runs out of memory"
        ends_early = plan.purpose is Purpose.MEMORY and not plan.exhaustive
        print(
            f"{len(plan.cases)} cases; {processes} processes{fewer if ends_early else ''}. Each {AIMS[plan.purpose]}."
        )
    for purpose in (Purpose.IR, Purpose.EXPLAIN, Purpose.PROFILE, Purpose.PREDICT):
        if of[purpose] and purpose is not plan.purpose:
            print(f"After them {of[purpose]} more processes, untimed. Each {AIMS[purpose]}.")
    print(run.engine.why, *too_tight(plan.cases), sep="\n")
    lines = [[case_name(planned.case), dims_text(planned.case.dims), forecast(run, planned)] for planned in plan.cases]
    print_table("Cases", ["case", "dims", "verdict"], lines)


def plan_json(run: Run) -> dict[str, Any]:
    """Returns what `print_plan` prints, as JSON. `processes` are counted by purpose, without the blocks that a run adds
    if intervals are too wide; `seconds` are for a small machine."""
    plan = run.plan
    verdicts = [(planned.case, forecast(run, planned)) for planned in plan.cases]
    return {
        "purpose": str(plan.purpose),
        "baseline": plan.baseline,
        "engine": run.engine.name,
        "cases": [
            case.to_json() | {"case_name": case_name(case), "runs": verdict in (RUN, COMPILED), "verdict": verdict}
            for case, verdict in verdicts
        ],
        "processes": {str(purpose): n for purpose, n in Counter(each.purpose for each in runnable(plan)).items()},
        "blocks": plan.protocol.blocks,
        "blocks_max": plan.protocol.blocks_max,
        "sampling": plan.protocol.sampling,
        "seconds": plan_seconds(plan, run.workloads),
        "warnings": [*too_tight(plan.cases)],
    }
