"""`./stackwars predict`: compiles programs for accelerators that aren't here, with the accelerators' own compilers."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from suite.case import Outcome, Purpose
from suite.cli.measure import run
from suite.cli.measure.carry_out import finish, interrupted
from suite.cli.options import OFTEN, MeasuringOptions, command
from suite.cli.sets.naming import named
from suite.cli.sets.programs import program_of, without_programs
from suite.cli.terminal.output import Columns, print_columns, print_json
from suite.cli.terminal.progress import listener
from suite.cli.values import Names, parse_quantity, parse_share
from suite.environments import venv
from suite.errors import COMMAND, UserError
from suite.launch.attempt import tail
from suite.machine import facts, noise
from suite.plan import layout
from suite.plan.planning import Selection
from suite.plan.predictions import predictions
from suite.plan.preset import Preset
from suite.predict import devices
from suite.predict.answer import CompileAnswer
from suite.predict.devices import Device
from suite.protocol import Protocol
from suite.results.outcomes import FAILED, INTERRUPTED
from suite.run.predictions import ENVIRONMENT, Compiler, judged
from suite.run.runner import Runner
from suite.run.session import Session
from suite.run.start.reopen import own_code
from suite.sets.files import sole
from suite.sets.result_set import ResultSet
from suite.stacks.catalog import STACKS
from suite.units import SECONDS, quantity, seconds

# The time limit of a compilation, and of a process that captures a program. Many minutes for 8 billion parameters.
TIMEOUT_SECONDS = 3600.0
COLUMNS: Columns[dict[str, Any]] = {
    "device": lambda told: told["device"],
    "outcome": lambda told: told["outcome"],
    "a step needs": lambda told: quantity((told["compiled"] or {}).get("needed_bytes")),
    "arguments": lambda told: quantity((told["compiled"] or {}).get("argument_bytes")),
    "temporaries": lambda told: quantity((told["compiled"] or {}).get("temporary_bytes")),
    "peak": lambda told: quantity((told["compiled"] or {}).get("peak_bytes")),
    "of": lambda told: quantity(told["memory_bytes"]),
    "compiled in": lambda told: seconds(told["compile_seconds"]),
}


@dataclass(frozen=True, kw_only=True)
class PredictOptions(MeasuringOptions):
    """The options of `predict`."""

    TASK = "predict"

    target: str = "tpu"
    """hardware class of the accelerator: tpu or cuda"""
    device: Names = ()
    """the accelerators: v6e-1, v5e-1, v6e-4 or v6e-8 (tpu); h100, h200 or a100 (cuda) (default: the target's first)"""
    preset: Annotated[str, OFTEN] = "full"
    """the preset, which has the questions: a name (./stackwars list) or a path to a TOML file"""
    set: str | None = None
    """compile the programs that this result set has kept, and add the predictions to it"""
    program: str | None = None
    """compile this file of StableHLO, text or bytecode, compressed or not; nothing is kept"""
    vary: str | None = None
    """the dim whose largest value that fits is searched for, case by case: batch, seq, image or n"""
    tolerance: str = "2%"
    """with --vary: the search ends when what doesn't fit is at most this share above what fits"""
    timeout: str | None = None
    """time limit of each process, like 90 or 10min (default: 60min)"""

    @property
    def devices(self) -> tuple[Device, ...]:
        """Returns the accelerators to predict for. Raises UserError for an unknown one."""
        if not self.device:
            return (devices.first(self.target),)
        target = self.target if self.target != PredictOptions.target else None
        return tuple(devices.find(name, target) for name in dict.fromkeys(self.device))

    def check(self) -> None:
        """Raises UserError for options that don't go together."""
        if self.set and self.program:
            raise UserError("--set and --program both name programs to compile: choose one.")
        if not self.vary and self.tolerance != PredictOptions.tolerance:
            raise UserError("--tolerance is for a search: it needs --vary, like --vary=batch.")
        compiling = ("target", "device", "timeout", "json", "force")
        if self.program and (typed := self.words("program", *compiling)):
            raise UserError(f"--program compiles one file: leave out {typed[0].partition('=')[0]}.")
        if self.set and (typed := self.words("set", "results", *compiling)):
            raise UserError(f"--set takes its cases from the set: leave out {typed[0].partition('=')[0]}.")

    def selection(self, cores: Sequence[int]) -> Selection:
        """Returns which cases hand over their programs; they run on the CPU. By default they are those of all stacks
        that the devices' compilers can predict."""
        targets = {device.target for device in self.devices}
        predicted = tuple(name for name, stack in STACKS.items() if targets & {*stack.predicted_on})
        chosen = super().selection(cores)
        return replace(chosen, target="cpu", device="cpu", stacks=self.stack or predicted, vary=self.vary or "")

    def chosen_preset(self) -> Preset:
        """Returns the preset with the purpose `ir`, for programs that are compiled on the tensors' shapes only."""
        constants: dict[str, Any] = {"explain": False, "profile": False, "abstract": True, "sampling": "alone"}
        constants["search_tolerance"] = parse_share(self.tolerance, "tolerance")
        if self.timeout is None:
            constants |= dict.fromkeys(("timeout_seconds", "compile_timeout_seconds"), TIMEOUT_SECONDS)
        return replace(self.preset_of(self.preset, **constants), purpose=Purpose.IR)

    @property
    def prepared(self) -> dict[str, Any]:
        return {"models": self.devices}


def predict(*workloads: str, options: PredictOptions = PredictOptions()) -> int:
    """Compiles one file, the programs of a set, or those of a new run for accelerators. Returns the exit code.

    :param workloads: the workloads: `predict llama`
    """
    options = options.with_words(workloads)
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
        with noise.alone(force=options.force):
            venv.ensure(ENVIRONMENT, ENVIRONMENT)
    return run.measure(options)


def prediction_instead(options: MeasuringOptions) -> str:
    """Returns the command, as a person types it, that predicts what `options` would measure on their target."""
    shared = {name: value for name, value in options.as_fields(PredictOptions).items() if value is not None}
    return command(PredictOptions(**shared).given(target=options.target))


def protocol_of(options: PredictOptions) -> Protocol:
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
        raise without_programs(store.folder)
    workloads, _ = own_code(file)
    ids = {row["case_id"] for row in captured}
    with_program = tuple(planned for planned in file.plan.cases if planned.case.case_id in ids)
    known = {planned.case.case_id for planned in file.plan.predictions}
    wanted = predictions(replace(file.plan, cases=with_program), models, workloads)
    new = [planned for planned in wanted if planned.case.case_id not in known]
    plan = replace(file.plan, predictions=(*file.plan.predictions, *new))
    planned_before = {attempt.key for attempt in file.attempts}
    attempts = [attempt for attempt in layout.outside(plan, Purpose.PREDICT) if attempt.key not in planned_before]
    with noise.alone(force=options.force), sole(store.folder):
        venv.ensure(ENVIRONMENT, ENVIRONMENT)
        store.settle(replace(file, plan=plan, attempts=(*file.attempts, *attempts)))
        shown = listener()
        runner = Runner(
            replace(plan, protocol=protocol_of(options)),
            store,
            workloads,
            unneeded,
            facts.machine_id(),
            facts.usable_cores(),
        )
        for row in captured:
            runner.remember(row)
        try:
            Session(runner, shown).outside(Purpose.PREDICT)
        except KeyboardInterrupt:
            interrupted(store, shown)
            return INTERRUPTED
        finally:
            shown.close()
        return finish(store, store.commit(), options.json)


def unneeded(environment: str) -> Any:
    """Raises AssertionError. It stands where a run has an engine, because predictions start no process of a stack."""
    raise AssertionError(f"a prediction started a process of {environment}")


def compile_program(options: PredictOptions, name: str, models: tuple[Device, ...]) -> int:
    """Compiles one file for each device and prints the outcomes. Returns the exit code."""
    program = program_of(name)
    compiler = Compiler(protocol_of(options), facts.usable_cores())
    outcomes = []
    for device in models:
        with tempfile.TemporaryDirectory(prefix="stack-wars-") as place:
            folder = Path(place) / "compile"
            answer, end = compiler.compile(device, program, folder)
            outcomes.append(as_json(device, answer, judged(answer, end, device, tail(folder / "stderr.log"))))
    if options.json:
        print_json({"program": name, "devices": outcomes})
    else:
        print_columns(name, COLUMNS, outcomes)
        for each in outcomes:
            if each["reason"]:
                print(f"{each['device']}: {each['reason']}")
    # Only the program's need of memory may keep a compiler from compiling it.
    return FAILED if {each["outcome"] for each in outcomes} & {Outcome.ERROR, Outcome.CRASHED} else 0


def as_json(device: Device, answer: CompileAnswer, outcome: dict[str, Any]) -> dict[str, Any]:
    """Returns one device's outcome as JSON, in bytes and seconds."""
    compiled = answer.compiled
    needed = {"needed_bytes": compiled.needed_bytes(device.target)} if compiled else {}
    return {
        "device": device.name,
        "memory_bytes": device.chip.memory_bytes,
        "outcome": outcome["outcome"],
        "reason": outcome["reason"],
        "compiler": answer.compiler or None,
        "compile_seconds": answer.seconds or None,
        "compiled": asdict(compiled) | needed if compiled else None,
    }
