"""`python -m suite.worker ATTEMPT.json --out DIR`: runs one attempt and appends its events to DIR/events.jsonl.

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

from suite.case import Attempt, Flag, Purpose
from suite.protocol import Protocol
from suite.stacks.threads import thread_environ, with_flags
from suite.worker.events import Events


def main(arguments: list[str] | None = None) -> int:
    """Returns 0 if the attempt ran to its end, 1 if it raised; the exception and its phase are then in the events."""
    parser = argparse.ArgumentParser(prog="python -m suite.worker", description=__doc__)
    parser.add_argument("attempt", type=Path, help="ATTEMPT.json: the case and every constant of the protocol")
    parser.add_argument("--out", type=Path, required=True, help="where events.jsonl goes")
    options = parser.parse_args(arguments)
    request = json.loads(options.attempt.read_text(encoding="utf-8"))
    events = Events(options.out)
    events.phase("start")
    opened_adapters: list[Any] = []
    try:
        answer(request, events, opened_adapters)
    except Exception as error:
        report(error, events, opened_adapters)
        return 1
    events.phase("end")
    events.write("end")
    return 0


def report(error: Exception, events: Events, adapters: list[Any]) -> None:
    """Writes an exception with its traceback, and first the reason of an adapter's `Unsupported`, or of a framework
    that can't trace a question's function."""
    base = sys.modules.get("suite.stacks.base")  # an import here could fail as the attempt's own did
    if base is not None and isinstance(error, base.Unsupported):
        events.write("unsupported", reason=str(error))
    elif adapters and adapters[0].cannot_trace(error):
        from suite.errors import at_line

        words = at_line(error, adapters[0].workload.folder)[:500]
        events.write("unsupported", reason=f"it can't trace {adapters[0].workload.folder.name}, {words}")
    events.exception(error)


def answer(request: dict[str, Any], events: Events, adapters: list[Any]) -> None:
    """Runs the phases of one attempt, in order. The adapter is added to `adapters` as soon as it is there."""
    attempt = Attempt.from_json(request["attempt"])
    protocol = Protocol(**request["protocol"])
    os.sched_setaffinity(0, request["cpus"])
    adapter, data, listener = opened(attempt, request, events)
    adapters.append(adapter)
    from suite.machine import builds, devices, facts  # only now, so that `import_seconds` doesn't include their imports
    from suite.stacks import catalog as stacks
    from suite.worker import process_memory, proof
    from suite.worker.equivalence.witness import Witness
    from suite.worker.observing import capture
    from suite.worker.timing import measure
    from suite.worker.timing.turns import Turns, wait

    turns = Turns.offered(os.environ)
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
    stack = stacks.STACKS[attempt.case.stack]
    known = {*stacks.IMPORTS.get(stack.environment, ()), *adapter.packages}
    imports = adapter.workload.imports(stack.dialect) - known
    events.facts(versions=versions((*adapter.packages, *distributions(imports))), environment_facts=surroundings)
    if attempt.purpose is Purpose.PROBE:
        observe(adapter, events)
        return
    if attempt.purpose is Purpose.IR and protocol.abstract:
        timed(events, "build", lambda: adapter.build(abstract=True))
        capture.capture_on_shapes(adapter, data, events, request["cache_directory"])
        return
    events.facts(host_base_bytes=process_memory.peak_bytes())  # before building: TensorFlow makes its variables there
    timed(events, "build", adapter.build)
    if adapter.has_frozen_weights():
        events.write("flag", flag=str(Flag.FROZEN_WEIGHTS))
    state, batch = timed(events, "place", lambda: data.place(adapter), lambda: data.generating_seconds)
    events.facts(weights_sha256=data.digest.hexdigest(), host_peak_build_bytes=process_memory.peak_bytes())
    could_reset = process_memory.reset_peak()

    if attempt.purpose is not Purpose.TIMED:
        untimed(attempt.purpose, adapter, (state, batch), events, listener, request["cache_directory"], could_reset)
        return
    wait(turns, events)  # for processes that are being prepared: nothing is timed beside them
    witness = Witness(adapter, batch)
    look = witness.look if request["gate"] else id
    measured = measure.measure(adapter, state, batch, protocol, events, look, turns=turns)
    del state, batch
    events.phase("memory")
    peak = max(process_memory.peak_bytes() or 0, witness.peak_bytes) or None if could_reset else None
    if attempt.case.target == "cuda":  # at once: a GPU without work lowers its clock after a moment
        surroundings["gpu"] = devices.gpu_state()
        if devices.slowed(surroundings["gpu"]):
            events.write("flag", flag=str(Flag.NOISY))
    room = process_memory.has_room(adapter, 2 * 4 * data.parameter_count)
    surroundings |= facts.process_end() | {"room_for_late_step": room}
    events.facts(environment_facts=surroundings, **process_memory.figures(adapter, peak))
    proof.prove(adapter, data, measured, witness, events, turns, gated=request["gate"], late=request["gate"] and room)


def untimed(
    purpose: Purpose,
    adapter: Any,
    placed: tuple[Any, Any],
    events: Events,
    listener: Any,
    caches: str,
    could_reset: bool,
) -> None:
    from suite.worker import process_memory
    from suite.worker.observing import capture, explain, trace
    from suite.worker.timing import measure

    if purpose is Purpose.PRIME:
        measure.prime(adapter, *placed, events)
    elif purpose is Purpose.MEMORY:
        process_memory.ask(adapter, *placed, events, could_reset)
    elif purpose is Purpose.IR:
        capture.capture(adapter, *placed, events, caches)
    elif purpose is Purpose.PROFILE:
        trace.trace(adapter, *placed, events, caches)
    else:
        explain.explain(adapter, *placed, events, listener, caches)


def observe(adapter: Any, events: Events) -> None:
    from suite.worker.observing.recorder import Recorder

    events.phase("observe")
    recorder = Recorder(adapter, events)
    adapter.run(recorder)
    recorder.close()


def opened(attempt: Attempt, request: dict[str, Any], events: Events) -> tuple[Any, Any, Any]:
    """Imports the framework. Returns its adapter, the case's data (None for a probe), and for the purpose `explain` a
    listener on the libraries' logs (else None)."""
    case = attempt.case
    events.phase("import")
    start = perf_counter()
    # NumPy reads its thread count when it is imported, and nearly every module below imports it.
    os.environ.update(with_flags(thread_environ(case.threads), request["flags"]))
    from suite.stacks import catalog as stacks
    from suite.worker.data import Data
    from suite.worker.observing import explain
    from suite.workloads import catalog

    listener = explain.LogCapture(events.folder) if attempt.purpose is Purpose.EXPLAIN else None
    stacks.add([Path(request["stack_file"])] if request.get("stack_file") else [])
    adapter_of_stack = stacks.adapter_class(case.stack, case.implementation)
    environs = {
        Purpose.EXPLAIN: adapter_of_stack.explain_environ,
        Purpose.IR: adapter_of_stack.ir_environ,
        Purpose.PROFILE: adapter_of_stack.profile_environ,
    }
    environ = environs.get(attempt.purpose, adapter_of_stack.environ)
    os.environ.update(with_flags(environ(case, request["cache_directory"]), request["flags"]))
    workload = catalog.load(Path(request["workload_folder"]))
    adapter = adapter_of_stack.of(workload)(case, workload)
    events.facts(import_seconds=perf_counter() - start)
    if workload.has_model:
        events.phase("build")  # of the module, to find its parameters
        weights = Path(request["weights"]) if request["weights"] else None
        workload = workload.of_case(stacks.STACKS[case.stack].dialect, case, weights)
        adapter.take(workload)

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


def timed(events: Events, phase: str, action: Any, without: Any = lambda: 0.0) -> Any:
    """Runs a phase that comes before the timed calls. Writes how many seconds it took, minus the seconds that
    `without()` returns, as `<phase>_seconds`."""
    events.phase(phase)
    start = perf_counter()
    result = action()
    events.facts(**{f"{phase}_seconds": perf_counter() - start - without()})
    return result


def distributions(imports: frozenset[str]) -> list[str]:
    """Returns the names under which the packages of these modules are installed."""
    from importlib.metadata import packages_distributions

    if not imports:
        return []
    known = packages_distributions()  # reads the files of every package
    return sorted({name for module in imports for name in known.get(module, ())})


def versions(packages: tuple[str, ...]) -> dict[str, str]:
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
    # Everything is written. Ending without the framework's teardown, which can crash or take seconds.
    os._exit(code)
