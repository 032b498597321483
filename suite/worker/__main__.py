"""`python -m suite.worker ATTEMPT.json --out DIR`: run one case, append events to DIR/events.jsonl.

Runnable by hand in any of the environments. Standard output is a log, never a channel.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from contextlib import suppress
from pathlib import Path
from time import perf_counter
from typing import Any

from suite.case import Attempt, Purpose
from suite.protocol import Protocol
from suite.stacks.threads import thread_environ, with_flags
from suite.worker.events import Events


def main(arguments: list[str] | None = None) -> int:
    """0: everything was written; 1: an exception was, with its phase."""
    parser = argparse.ArgumentParser(prog="python -m suite.worker", description=__doc__)
    parser.add_argument("attempt", type=Path, help="ATTEMPT.json: the case and every constant of the protocol")
    parser.add_argument("--out", type=Path, required=True, help="where events.jsonl goes")
    options = parser.parse_args(arguments)
    request = json.loads(options.attempt.read_text(encoding="utf-8"))
    events = Events(options.out)
    events.phase("start")
    try:
        answer(request, events)
    except Exception as error:
        report(error, events)
        return 1
    events.phase("end")
    events.write("end")
    return 0


def report(error: Exception, events: Events) -> None:
    """An adapter's `Unsupported` is an answer; anything else is an exception with its traceback."""
    base = sys.modules.get("suite.stacks.base")  # importing it here could fail for the same reason
    if base is not None and isinstance(error, base.Unsupported):
        events.write("unsupported", reason=str(error))
    events.exception(error)


def answer(request: dict[str, Any], events: Events) -> None:
    """The phases of one attempt, in order."""
    attempt = Attempt.from_json(request["attempt"])
    case, protocol = attempt.case, Protocol(**request["protocol"])
    os.sched_setaffinity(0, request["cpus"])
    adapter, data, listener = opened(attempt, request, events)
    from suite.machine import builds, facts  # not before: what they import is no part of the framework's import
    from suite.reference.digests import digest
    from suite.worker import capture, measure, memory, precision
    from suite.worker.witness import Witness

    device = timed(events, "device", adapter.device)
    surroundings = (
        facts.process(os.environ)
        | builds.process(request["cache_directory"])
        | {
            "device": device,
            "tuned": sorted(adapter.tuned),
            "variant_flags": " ".join(f"{name}={value}" for name, value in request["flags"].items()) or None,
        }
    )
    events.facts(versions=versions(adapter.packages), environment_facts=surroundings)
    if attempt.purpose is Purpose.PROBE:
        observe(adapter, events)
        return
    if attempt.purpose is Purpose.IR and protocol.abstract:
        timed(events, "build", lambda: adapter.build(abstract=True))
        capture.capture_on_shapes(adapter, data, events, request["cache_directory"])
        return
    events.facts(host_base_bytes=memory.peak_bytes())  # before a model: TensorFlow's variables are made with theirs
    timed(events, "build", adapter.build)
    state, batch = timed(events, "place", lambda: data.place(adapter), lambda: data.generating_seconds)
    events.facts(weights_sha256=data.digest.hexdigest(), host_peak_build_bytes=memory.peak_bytes())
    could_reset = memory.reset_peak()

    if attempt.purpose is not Purpose.TIMED:
        untimed(attempt.purpose, adapter, (state, batch), events, listener, request["cache_directory"], could_reset)
        return
    witness = Witness(adapter, batch)
    measured = measure.measure(adapter, state, batch, protocol, events, witness.look if request["gate"] else id)
    del state, batch
    events.phase("memory")
    peak = max(memory.peak_bytes() or 0, witness.peak_bytes) or None if could_reset else None
    events.facts(environment_facts=surroundings | facts.process_end(), **memory.figures(adapter, peak))
    if measured.losses:
        events.write("metric", name="loss", unit="1", kind="gate", values=measured.losses)
    proof = digest(measured.result, "output").figures  # of the last timed result, by every process
    events.write("metric", name="last result", unit="1", kind="gate", values=proof)
    measured.state = witness.batch = None  # the gate places its own
    # Not before the first call: what the probe compiles would be missing from it, seconds in some stacks.
    events.phase("probe")
    observed = precision.observed(adapter.matmul(*precision.probe_operands()))
    events.facts(precision_observed=observed)
    reasons = precision.contradictions(case.precision, observed)
    if request["gate"]:
        reasons += judged(adapter, data, measured, witness, events)
    if reasons:
        events.write("wrong", reason="; ".join(reasons))


def untimed(
    purpose: Purpose,
    adapter: Any,
    placed: tuple[Any, Any],
    events: Events,
    listener: Any,
    caches: str,
    could_reset: bool,
) -> None:
    """What a process does with a step that is placed, if it isn't to time it."""
    from suite.worker import capture, explain, measure, memory, trace

    if purpose is Purpose.PRIME:
        measure.prime(adapter, *placed, events)
    elif purpose is Purpose.MEMORY:
        memory.ask(adapter, *placed, events, could_reset)
    elif purpose is Purpose.IR:
        capture.capture(adapter, *placed, events, caches)
    elif purpose is Purpose.PROFILE:
        trace.trace(adapter, *placed, events, caches)
    else:
        explain.explain(adapter, *placed, events, listener, caches)


def observe(adapter: Any, events: Events) -> None:
    """A probe, as a phase."""
    from suite.worker.recorder import Recorder

    events.phase("observe")
    recorder = Recorder(adapter, events)
    adapter.run(recorder)
    recorder.close()


def opened(attempt: Attempt, request: dict[str, Any], events: Events) -> tuple[Any, Any, Any]:
    """The framework imported: its adapter, the case's data, and who listens where kernels are to be told."""
    case = attempt.case
    events.phase("import")
    start = perf_counter()
    # numpy reads its thread count when it is imported, and nearly every module here imports it.
    os.environ.update(with_flags(thread_environ(case.threads), request["flags"]))
    from suite.stacks.catalog import adapter_class
    from suite.worker import explain
    from suite.worker.data import Data
    from suite.workloads import catalog

    listener = explain.Listener(events.folder) if attempt.purpose is Purpose.EXPLAIN else None
    adapter_of_stack = adapter_class(case.stack)
    environs = {
        Purpose.EXPLAIN: adapter_of_stack.explain_environ,
        Purpose.IR: adapter_of_stack.ir_environ,
        Purpose.PROFILE: adapter_of_stack.profile_environ,
    }
    environ = environs.get(attempt.purpose, adapter_of_stack.environ)
    os.environ.update(with_flags(environ(case, request["cache_directory"]), request["flags"]))
    workload = catalog.load(Path(request["workload_folder"]))
    adapter = adapter_of_stack(case, workload)
    events.facts(import_seconds=perf_counter() - start)

    if attempt.purpose is Purpose.PROBE:
        return adapter, None, None
    data = Data(case, workload, attempt.seed)
    events.facts(
        flops=workload.spec.flops(data.dims, case.pass_),
        parameters=data.parameter_count,
        bytes_floor=workload.spec.bytes_floor(data.dims, case.pass_),
        items_per_step=workload.items(case.dims),
    )
    return adapter, data, listener


def judged(adapter: Any, data: Any, measured: Any, witness: Any, events: Events) -> list[str]:
    """The gate, as a phase: why the stack's answers are wrong, nothing if they are equal."""
    from suite.worker import gate

    events.phase("gate")
    findings = gate.run(adapter, data, gate.Timed(measured.losses, measured.result, witness))
    if findings.compared:
        events.facts(relative_error=findings.worst)
    for name, each in findings.digests.items():  # compared with those of the other stacks
        events.write("metric", name=name, unit="1", kind="digest", values=each.figures)
    return [findings.reason] if findings.reasons else []


def timed(events: Events, phase: str, action: Any, without: Any = lambda: 0.0) -> Any:
    """Run one phase before the clock's own, its seconds kept apart in `<phase>_seconds`."""
    events.phase(phase)
    start = perf_counter()
    result = action()
    events.facts(**{f"{phase}_seconds": perf_counter() - start - without()})
    return result


def versions(packages: tuple[str, ...]) -> dict[str, str]:
    """The versions of an adapter's packages and of Python."""
    from importlib.metadata import PackageNotFoundError, version

    numbers = {"python": sys.version.split()[0]}
    for package in packages:
        with suppress(PackageNotFoundError):
            numbers[package] = version(package)
    return numbers


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    sys.stderr.flush()
    # Everything is written. Tearing a framework down can crash or take seconds, and measures nothing.
    os._exit(code)
