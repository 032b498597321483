"""`./stackwars predict`: compiles programs for accelerators that aren't here, with the accelerators' own compilers."""

from __future__ import annotations

import dataclasses
import tempfile
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

from suite.archive.naming import named
from suite.case import Outcome, Purpose
from suite.cli.measure import run
from suite.cli.options.predict import TIMEOUT_SECONDS, PredictOptions
from suite.cli.options.values import parse_quantity
from suite.cli.terminal.console import listener, print_table
from suite.cli.terminal.output import print_json
from suite.environments import venv
from suite.errors import COMMAND, UserError
from suite.launch.attempt import tail
from suite.machine import facts, noise
from suite.plan import layout
from suite.plan.predictions import predictions
from suite.predict.devices import Device
from suite.protocol import Protocol
from suite.results.outcomes import INTERRUPTED
from suite.results.store.files import gunzipped
from suite.results.store.one_command import sole
from suite.results.store.result_set import ResultSet
from suite.run.predictions import ENVIRONMENT, CompileInput, Compiler, judged
from suite.run.runner import Runner
from suite.run.session import Session
from suite.stacks.catalog import add as add_stacks
from suite.units import SECONDS, quantity, seconds
from suite.workloads.catalog import find

FAILED = 3  # exit code: the compiler failed or crashed, for another reason than the program's need of memory


def predict(options: PredictOptions) -> int:
    """Compiles one file, the programs of a set, or those of a new run for accelerators. Returns the exit code."""
    options.check()
    models = options.devices
    if options.program:
        return compile_program(options, options.program, models)
    if options.set:
        return add_to_set(options, options.set, models)
    if not options.dry_run:
        facts.refuse_platform()
        # Beside another run it would be refused: not only after gigabytes were installed. Made now, so that a failure
        # isn't found after hours of captures.
        with noise.alone(len(facts.usable_cores()), options.force):
            venv.ensure(ENVIRONMENT, ENVIRONMENT)
    return run.measure(options)


def protocol_of(options: PredictOptions) -> Protocol:
    """Returns the protocol with the time limit of `--timeout`, or an hour."""
    limit = parse_quantity(options.timeout, SECONDS, "timeout", "10min") if options.timeout else TIMEOUT_SECONDS
    return replace(Protocol(), timeout_seconds=limit, compile_timeout_seconds=limit)


def add_to_set(options: PredictOptions, name: str, models: tuple[Device, ...]) -> int:
    """Compiles the programs that a set has kept, and adds the predictions to it. Returns the exit code."""
    store = ResultSet.open(named(name, Path(options.results)))
    if not store.begun_here:
        raise UserError(
            f"{store.folder} wasn't begun here but fetched or copied, so nothing is added to it. "
            f"`{COMMAND} predict --program=FILE` compiles one of the programs in its folder ir."
        )
    file = store.plan_file
    captured = [row for row in store.read()[0] if row["purpose"] == Purpose.IR]
    if not any(row["outcome"] == Outcome.OK for row in captured):
        raise UserError(
            f"{store.folder} has kept no programs: `{COMMAND} run --purpose=ir` or a timed run with --ir=on keeps them."
        )
    add_stacks(map(Path, file.stack_paths))
    workloads = find(tuple(map(Path, file.workload_paths)))
    ids = {row["case_id"] for row in captured}
    with_program = tuple(planned for planned in file.plan.cases if planned.case.case_id in ids)
    known = {planned.case.case_id for planned in file.plan.predictions}
    wanted = predictions(replace(file.plan, cases=with_program), models, workloads)
    new = [planned for planned in wanted if planned.case.case_id not in known]
    plan = replace(file.plan, predictions=(*file.plan.predictions, *new))
    planned_before = {attempt.key for attempt in file.attempts}
    attempts = [attempt for attempt in layout.outside(plan, Purpose.PREDICT) if attempt.key not in planned_before]
    cores = facts.usable_cores()
    with noise.alone(len(cores), options.force), sole(store.folder):
        venv.ensure(ENVIRONMENT, ENVIRONMENT)
        store.settle(replace(file, plan=plan, attempts=(*file.attempts, *attempts)))
        shown = listener()
        runner = Runner(
            replace(plan, protocol=protocol_of(options)), store, workloads, unneeded, facts.machine_id(), list(cores)
        )
        for row in captured:
            runner.remember(row)
        try:
            Session(runner, shown).outside(Purpose.PREDICT)
        except KeyboardInterrupt:
            run.interrupted(store, shown)
            return INTERRUPTED
        finally:
            shown.close()
        return run.finish(store, store.commit(), options.json)


def unneeded(environment: str) -> Any:
    """Raises AssertionError. It stands where a run has an engine, because predictions start no process of a stack."""
    raise AssertionError(f"a prediction started a process of {environment}")


def compile_program(options: PredictOptions, name: str, models: tuple[Device, ...]) -> int:
    """Compiles one file for each device and prints the outcomes. Returns the exit code."""
    program = CompileInput(program_of(name))
    compiler = Compiler(protocol_of(options), facts.usable_cores())
    outcomes = []
    for device in models:
        with tempfile.TemporaryDirectory(prefix="stack-wars-") as place:
            folder = Path(place) / "compile"
            answer, end = compiler.compile(device, program, folder)
            outcome = judged(answer, end, device, tail(folder / "stderr.log"))
        outcomes.append((device, answer, outcome))
    if options.json:
        print_json({"program": name, "devices": [as_json(*line) for line in outcomes]})
    else:
        heads = ["device", "outcome", "a step needs", "arguments", "temporaries", "peak", "of", "compiled in"]
        print_table(name, heads, [cells(*line) for line in outcomes])
        for device, _, outcome in outcomes:
            if outcome["reason"]:
                print(f"{device.name}: {outcome['reason']}")
    words = {outcome["outcome"] for *_, outcome in outcomes}
    return FAILED if words & {str(Outcome.ERROR), str(Outcome.CRASHED)} else 0


def program_of(name: str) -> bytes:
    """Returns the program in a file, uncompressed. Raises UserError if the file can't be read."""
    path = Path(name)
    try:
        return b"".join(gunzipped(path)) if name.endswith(".gz") else path.read_bytes()
    except (OSError, EOFError, zlib.error) as broken:
        raise UserError(f"{name} can't be read: {getattr(broken, 'strerror', None) or broken}.") from None


def cells(device: Device, answer: Any, outcome: dict[str, Any]) -> list[str]:
    """Returns the table's line for one device."""
    compiled = answer.compiled
    sizes = (
        [compiled.needed_bytes(device.target), compiled.argument_bytes, compiled.temporary_bytes, compiled.peak_bytes]
        if compiled
        else [None] * 4
    )
    memory = quantity(device.chip.memory_bytes)
    return [device.name, outcome["outcome"], *map(quantity, sizes), memory, seconds(answer.seconds or None)]


def as_json(device: Device, answer: Any, outcome: dict[str, Any]) -> dict[str, Any]:
    """Returns one device's outcome as JSON, in bytes and seconds."""
    return {
        "device": device.name,
        "memory_bytes": device.chip.memory_bytes,
        "outcome": outcome["outcome"],
        "reason": outcome["reason"],
        "compiler": answer.compiler or None,
        "compile_seconds": answer.seconds or None,
        "compiled": None
        if answer.compiled is None
        else dataclasses.asdict(answer.compiled) | {"needed_bytes": answer.compiled.needed_bytes(device.target)},
    }
