"""Runs the processes of predictions: an accelerator's own compiler compiles the program of a case, and its verdict
becomes the row."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from suite.case import Attempt, Case, Flag, Outcome, canonical_json
from suite.environments import venv
from suite.errors import COMMAND, Damaged, UserError
from suite.guard import plain_files
from suite.launch import outcome
from suite.launch.attempt import run_job, spare_bytes, tail
from suite.launch.events import Account
from suite.launch.local import Local
from suite.launch.process import Exit
from suite.predict import devices
from suite.predict.answer import (
    ANSWER,
    ANSWER_BYTES_MAX,
    ASKED,
    PROGRAM,
    CompileAnswer,
    CompiledProgram,
    CompileRequest,
    Prediction,
)
from suite.predict.devices import Device
from suite.protocol import Protocol
from suite.results.questions.programs import stack_programs
from suite.sets import json_file
from suite.sets.result_set import ResultSet
from suite.sets.rows import Row
from suite.stacks.catalog import STACKS
from suite.units import quantity

ENVIRONMENT = "predict"  # the environment's name, and the folder of its lock
PHASE = "compile"
# Columns that a prediction takes from the row of the process that captured the program: they hold on any device.
SHARED = ("flops", "bytes_floor", "parameters", "items_per_step", "graph_breaks")
BY_COMPILER = "the device's compiler: it refuses what doesn't fit"
BY_SIZE = "the bytes that a step needs against the device's memory: XLA's compiler for GPUs refuses no program"
BY_ALLOCATIONS = (
    "what PyTorch allocates in a step on fake tensors of a CPU, in the blocks of 512 bytes of its allocator for CUDA, "
    "against the device's memory: without the CUDA context, the workspaces of its libraries and gaps between blocks"
)


@dataclass
class Compiler:
    """The environment of the accelerators' compilers, made on first use."""

    protocol: Protocol
    cores: Sequence[int]

    @cached_property
    def engine(self) -> Local:
        environment = venv.ensure(ENVIRONMENT, ENVIRONMENT)
        return Local(environment.python, environment.lock.sha256)

    @property
    def at_once(self) -> int:
        """Returns how many compilations run side by side: as many as cores, since a TPU's compiler works on one."""
        return len(self.cores)

    def compile(
        self, device: Device, program: bytes, folder: Path, *, header: str = "", batch: int = 0
    ) -> tuple[CompileAnswer, Exit]:
        """Returns the answer of a program's compilation, and how its process ended. The process works in `folder`, from
        which the program, in StableHLO, is deleted afterwards.

        `header` is the first line of the program that a CPU's compiler made of it, `batch` the size of the batch that
        several chips split. For a program of the user's own they are empty and 0.
        """
        folder = folder.resolve()  # the process starts in another folder, and ptxas writes into TMPDIR
        plain_files.clear(folder)
        folder.mkdir(parents=True)
        names = ("target", "topology", "chips", "accelerator_type", "target_config")
        asked = CompileRequest(**{name: getattr(device, name) for name in names}, header=header, batch=batch)
        (folder / ASKED).write_text(json.dumps(dataclasses.asdict(asked)), encoding="utf-8")
        (folder / PROGRAM).write_bytes(program)
        end = run_job(
            "suite.predict.compile",
            folder,
            engine=self.engine,
            cpus=self.cores,
            seconds=self.protocol.timeout_seconds,
            memory_bytes=spare_bytes() // self.at_once,
        )
        (folder / PROGRAM).unlink(missing_ok=True)
        return read_answer(folder), end


def read_answer(folder: Path) -> CompileAnswer:
    """Returns the answer of a compilation; an empty one if its process left none. An answer that can't be read is an
    exception of this compilation, so that others go on."""
    path = folder / ANSWER
    if not path.exists():
        return CompileAnswer()
    try:
        answer: CompileAnswer = json_file.read(path, CompileAnswer, ANSWER_BYTES_MAX)
    except Damaged as broken:
        return CompileAnswer(exception={"type": "its answer", "message": str(broken), "traceback": ""})
    return answer


def predict(store: ResultSet, compiler: Compiler, attempt: Attempt, blank: Row, captured: Row | None) -> Row:
    """Returns the row of a predict process. `blank` is the row before anything is known; `captured` is the row of the
    process that kept the case's program, None without such a process."""
    device, row = devices.find(attempt.case.device), blank | {"provenance": "predicted"}
    if captured is None or captured["outcome"] != Outcome.OK:
        return row | without_program(captured)
    row |= {column: captured[column] for column in SHARED}
    if STACKS[attempt.case.stack].on_shapes:
        return row | tracked(captured, device, row)
    row = row | compiler.engine.columns | {"environment": ENVIRONMENT}
    name = stack_programs(captured).step.name
    try:
        program = store.program(captured.attempt_name, name)
        header = store.program_header(captured.attempt_name, name)
    except (UserError, OSError) as broken:
        return row | {"outcome": str(Outcome.ERROR), "reason": f"its program can't be read: {broken}"}
    folder = store.log_folder(attempt)
    batch = attempt.case.dims.get("batch", 0)
    answer, end = compiler.compile(device, program, folder, header=header, batch=batch)
    row |= judged(answer, end, device, tail(folder / "stderr.log"))
    if answer.compiled is None:
        return row
    return row | figures(answer, answer.compiled, device, row, name)


def without_program(captured: Row | None) -> dict[str, Any]:
    if captured is None:
        lost = {"reason": "no process captured its program", "flags": [str(Flag.HARNESS)]}
        return {"outcome": str(Outcome.ERROR), **lost}
    return {
        "outcome": captured["outcome"],
        "reason": f"there is no program to compile: the process that captures it ended so: {captured['reason']}",
        "provenance": "inferred",
        "inferred_from": captured["case_name"],
    }


def judged(answer: CompileAnswer, end: Exit, device: Device, stderr_tail: str) -> dict[str, Any]:
    harness = {"outcome": str(Outcome.ERROR), "phase": PHASE}
    if answer.unreadable:
        return harness | {"reason": f"its program can't be read: {answer.unreadable}"}
    if answer.absent:
        again = f"`{COMMAND} setup --target={ENVIRONMENT}` makes the environment {ENVIRONMENT}"
        return harness | {"reason": f"{answer.absent}; {again}", "flags": [str(Flag.HARNESS)]}
    ended = answer.compiled is not None
    account = Account(phase=PHASE, exception=answer.exception, ended=ended)
    judgement = outcome.judge(end, account, device.target, stderr_tail)
    columns = dataclasses.asdict(judgement)
    columns |= {"outcome": str(judgement.outcome), "compile_seconds": answer.seconds or None}
    if answer.compiled and device.target == "cuda":
        columns |= by_size(answer.compiled, device)
    return columns


def by_size(compiled: CompiledProgram, device: Device) -> dict[str, Any]:
    """Returns the columns of the outcome `oom_device` if a step needs more memory than the device has; else none."""
    needed, memory = compiled.needed_bytes(device.target), device.chip.memory_bytes
    if needed <= memory:
        return {}
    reason = f"a step needs {quantity(needed)} of the {quantity(memory)} of {device.chip.title}"
    return {"outcome": str(Outcome.OOM_DEVICE), "reason": reason}


def tracked(captured: Row, device: Device, row: Row) -> dict[str, Any]:
    """Returns the columns of a step that no compiler sees whole, by the memory that its framework would allocate. The
    process that took the step on shapes has counted it, operation by operation."""
    stays, passing = captured["program_argument_bytes"], captured["program_temporary_bytes"]
    step = CompiledProgram(argument_bytes=stays, temporary_bytes=passing, peak_bytes=stays + passing)
    answer = CompileAnswer(compiler=f"torch {captured.mapping('versions')['torch']}", compiled=step)
    same = {name: captured[name] for name in ("lock_sha256", "engine", "versions")}
    verdict = {"outcome": str(Outcome.OK)} | by_size(step, device)
    return figures(answer, step, device, row, "", BY_ALLOCATIONS) | same | verdict


def figures(
    answer: CompileAnswer, compiled: CompiledProgram, device: Device, row: Row, program: str, verdict_by: str = ""
) -> dict[str, Any]:
    """Returns the columns of a compiled program. `row` has the work of the case and its precision. `verdict_by` says
    how it was decided that the program fits; the default is by the device's compiler, or on a GPU by size."""
    work, moved = row.number("flops"), row.number("bytes_floor")
    # Several chips have no bound on their time: it would lack what they send each other.
    known = work is not None and moved is not None and device.count == 1
    bound = device.bound(work or 0.0, moved or 0.0, row.text("precision")) if known else None
    prediction = Prediction(
        compiled=compiled,
        compiler=answer.compiler,
        device=device.chip.title,
        device_bytes=device.chip.memory_bytes,
        needed_bytes=compiled.needed_bytes(device.target),
        verdict_by=verdict_by or (BY_SIZE if device.target == "cuda" else BY_COMPILER),
        program=program,
        bound_seconds=bound and bound[0],
        bound_by=bound and bound[1],
    )
    package, _, version = answer.compiler.partition(" ")
    return {
        "prediction": canonical_json(dataclasses.asdict(prediction)),
        "versions": canonical_json({package: version}),
        "program_argument_bytes": compiled.argument_bytes,
        "program_output_bytes": compiled.output_bytes,
        "program_temporary_bytes": compiled.temporary_bytes,
        "program_aliased_bytes": compiled.aliased_bytes,
    }


def source_case(case: Case, target: str) -> Case:
    return replace(case, target=target, device=target)
