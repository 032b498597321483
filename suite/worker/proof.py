"""The proof that a timed process computed the right thing: what every process reports, and the gate of block 1."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

from suite.case import CLOCK, FRESH_STEPS, Flag
from suite.reference.digests import digest
from suite.worker.equivalence import gate, late_step, precision
from suite.worker.equivalence.comparison import TimedEvidence
from suite.worker.events import Events
from suite.worker.timing.turns import wait
from suite.workloads import trees
from suite.workloads.tensors import itemsize

DRAWS = (
    "two calls with the same inputs give different results, so that none can be compared; random numbers, like those "
    "of dropout, would do that"
)


def prove(
    adapter: Any, data: Any, measured: Any, witness: Any, events: Events, turns: Any, gated: bool, late: bool
) -> None:
    """Writes the proof that a timed process computed the right thing, or the reasons why it didn't. Every process
    reports its first losses and a digest of its last result. A `gated` process is compared with the reference, and
    takes one more step if `late`."""
    if gated:
        wait(turns, events)  # for processes that take their last samples
    events.facts(result_types=measured.types)
    if adapter.case.implementation:  # a question has no formulas
        moved = sum(tensor.nbytes for tensor in (data.parameters | data.batch).values())
        results = sum(leaf.size * itemsize(measured.types[name]) for name, leaf in trees.leaves(measured.result))
        events.facts(bytes_floor=moved + results)
        if gated and witness.batch is not None:
            events.facts(flops=adapter.program_flops(measured.state, witness.batch))
    if measured.losses:
        events.write("metric", name="loss", unit="1", kind="gate", values=measured.losses)
    for name, value in data.results(adapter, measured.result).items():
        key = "output" if name == "loss" else name
        proof = digest(value, key).figures
        events.write("metric", name=key.replace("output", "last result", 1), unit="1", kind="gate", values=proof)
    # Only now: a probe before the first call would do a part of its work, which takes seconds in some stacks.
    events.phase("probe")
    observed = precision.observed(adapter.matmul(*precision.probe_operands()))
    events.facts(precision_observed=observed)
    reasons = precision.contradictions(adapter.case.precision, observed)
    if gated:
        evidence = TimedEvidence(measured.losses, measured.result, witness, types=measured.types)
        evidence.alone = turns.alone if turns else nullcontext
        if adapter.train and adapter.optimizer:
            batch, witness.batch = witness.batch, None
            if late and not adapter.workload.has_step:  # nothing but its own step reads its loss
                events.phase("late")
                evidence.late = late_step.take(adapter, measured.state, batch, measured.steps, evidence.alone)
        measured.state = batch = None  # the gate places its own
        events.phase("gate")
        reasons += judged(adapter, data, evidence, events, observed)
        if turns and not turns.was_alone:  # the others wait for it
            with turns.alone():
                pass
    if reasons:
        events.write("wrong", reason="; ".join(reasons))


def judged(adapter: Any, data: Any, evidence: Any, events: Events, observed: str) -> list[str]:
    """Runs the equivalence gate. Returns why the stack's answers are wrong; an empty list if they are right. `observed`
    is the precision of the stack's products."""
    findings = gate.run(adapter, data, evidence)
    if findings.compared:
        events.facts(relative_error=findings.worst)
    for name, of_tensor in findings.digests.items():  # compared with those of the other stacks
        events.write("metric", name=name, unit="1", kind="digest", values=of_tensor.figures)
    for name, figures in findings.kinks.items():
        events.write("metric", name=name, unit="1", kind="kinks", values=figures)
    if findings.fresh_seconds:
        events.write("metric", name=FRESH_STEPS, unit="s", kind=CLOCK, values=findings.fresh_seconds)
    if findings.compared:
        events.facts(tolerance=findings.tolerances.plain)
    if findings.no_float64:
        print(f"The model doesn't run in float64: {findings.no_float64}")
    flags = {
        Flag.UNSTABLE: findings.unstable,
        Flag.NOT_FINITE: findings.odd,
        Flag.WIDER: findings.wider,
        Flag.NO_FLOAT64: findings.no_float64,
    }
    for flag, is_so in flags.items():
        if is_so:
            events.write("flag", flag=str(flag))
    if findings.wider:
        events.facts(precision_observed=f"{observed}, but f64 in {', '.join(findings.wider)}")
    if findings.draws:
        events.write("unsupported", reason=DRAWS)
        return []
    return [findings.reason] if findings.reasons else []
