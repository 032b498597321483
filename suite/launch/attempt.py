"""Runs one attempt: writes ATTEMPT.json, runs the worker, and returns the columns of the row."""

from __future__ import annotations

import dataclasses
import datetime
import functools
import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from suite.case import Attempt, Purpose
from suite.errors import UserError
from suite.guard import plain_files
from suite.guard.printable import printable
from suite.launch import events, outcome
from suite.launch.engine import ALLOCATOR_VARIABLES, CHECK_VARIABLES, Engine, ProcessRequest
from suite.launch.process import CHECK_SECONDS, Exit, ProcessLimits
from suite.machine import facts
from suite.protocol import Protocol
from suite.sets.rows import metrics_json
from suite.stacks.catalog import STACKS, environment_of
from suite.stacks.names import attempt_name

SCHEMA_VERSION = 1
RESERVED_BYTES = 1 << 30  # kept for the orchestrator, the engine and the system where a case has no memory limit
MEMORY_CHECK_SECONDS = 0.02  # between two looks where nothing is timed: a compiler's peak may be short
ANSWER_BYTES_MAX = 2**28  # of the file that `run_reader` returns
TAIL_LINES = 20
TAIL_BYTES = 4096


def run_attempt(attempt: Attempt, request: ProcessRequest, engine: Engine) -> dict[str, Any]:
    """Runs the process that `prepare` has made ready and returns its columns of the row, by name.

    The columns say how the worker ended; a failure of the worker raises nothing. Raises only OSError (the folder can't
    be written) and KeyboardInterrupt (after every process was ended).
    """
    started_at = datetime.datetime.now(datetime.UTC)
    return columns(attempt, request, engine, engine.launch(request)) | {"started_at": started_at}


def prepare(
    attempt: Attempt,
    *,
    folder: Path,
    protocol: Protocol,
    cpus: Sequence[int],
    gate: bool,
    workload_folder: Path,
    cache_directory: Path,
    data_files: Sequence[Path] = (),
    flags: Mapping[str, str] | None = None,
    limits: ProcessLimits | None = None,
    company: int = 1,
    weights: Path | None = None,
) -> ProcessRequest:
    """Writes ATTEMPT.json into the attempt's empty `folder`, and returns the request that an engine launches.

    `data_files` hold tensors, `flags` are a variant's own variables, `weights` says which weights a port has. The
    default of `limits` is what `limits_of` says.
    Raises OSError if the folder can't be written.
    """
    case = attempt.case
    stack_file = STACKS[case.stack].file  # the adapter of a stack from outside the repository
    plain_files.clear(folder)  # a lost session may have left the same attempt's files
    folder.mkdir(parents=True)
    folder, workload_folder, cache_directory = (path.resolve() for path in (folder, workload_folder, cache_directory))
    fields = {
        "schema_version": SCHEMA_VERSION,
        "attempt": attempt.to_json(),
        "protocol": dataclasses.asdict(protocol),
        "cpus": list(cpus),
        "gate": gate,
        "workload_folder": str(workload_folder),
        "stack_file": str(stack_file or ""),
        "cache_directory": str(cache_directory),
        "environment": environment_of(case.stack, case.variant),
        "flags": dict(flags or {}),
        "weights": str(weights or ""),
    }
    file = folder / "ATTEMPT.json"
    file.write_text(json.dumps(fields, indent=1), encoding="utf-8")
    return ProcessRequest(
        name=attempt_name(attempt),
        arguments=["-m", "suite.worker", str(file), "--out", str(folder)],
        folder=folder,
        reads=[workload_folder, *data_files, *filter(None, (stack_file, weights))],
        cache_directory=cache_directory,
        keep_cache=case.cache == "warm" or attempt.purpose is Purpose.PRIME,
        cpus=cpus,
        limits=limits or limits_of(attempt, protocol),
        variables=ALLOCATOR_VARIABLES[case.allocator] | (CHECK_VARIABLES if protocol.at_once else {}),
        company=company,
    )


def columns(attempt: Attempt, request: ProcessRequest, engine: Engine, end: Exit) -> dict[str, Any]:
    account = events.read(request.folder / "events.jsonl")
    stderr_tail = tail(request.folder / "stderr.log")
    judged = outcome.judge(end, account, attempt.case.target, stderr_tail)
    return {
        **account.columns,
        **{column: values or None for column, values in account.samples.items()},
        events.ROUNDS: account.samples[events.ROUNDS] if any(account.samples[events.ROUNDS]) else None,
        "metrics": metrics_json(account.metrics),
        **dataclasses.asdict(judged),
        "outcome": str(judged.outcome),
        "stderr_tail": stderr_tail or None,
        "cgroup_peak_bytes": end.peak_bytes_cgroup,
        "cgroup_anonymous_bytes": end.peak_bytes_anonymous,
        **engine.columns,
    }


def run_reader(
    module: str, folder: Path, answer: str, *, engine: Engine, protocol: Protocol, cpus: Sequence[int], hint: str = ""
) -> str:
    """Runs the program `module` on a folder that an attempt has left, and returns the text of the file `answer` that it
    makes there. `engine` runs the environment that the program needs; `hint` says which other could read more.

    Raises UserError, with words that complete a sentence ("… couldn't be read: …"), if the program makes no such file.
    Raises it too if the folder has anything but files and folders: the program would follow a link and return what is
    there.
    """
    try:
        plain_files.check_tree(folder)
    except OSError as odd:
        raise UserError(f"couldn't be read: {odd.strerror}: {odd.filename}") from None
    folder = folder.resolve()
    plain_files.clear(folder / answer)
    end = run_job(module, folder, *([hint] if hint else []), engine=engine, cpus=cpus, seconds=protocol.timeout_seconds)
    if end.exit_code == 0:
        return plain_files.read(folder / answer, ANSWER_BYTES_MAX).decode("utf-8")
    last = tail(folder / "stderr.log").splitlines()[-1:] or [end.problem or f"the reader exited {end.exit_code}"]
    raise UserError(f"couldn't be read: {last[0]}")


def run_job(
    module: str,
    folder: Path,
    *arguments: str,
    engine: Engine,
    cpus: Sequence[int],
    seconds: float,
    memory_bytes: int | None = None,
) -> Exit:
    """Runs a program of this project, in which nothing is measured, on a folder. Returns how it ended."""
    limits = ProcessLimits(timeout_seconds=seconds, compile_timeout_seconds=seconds, memory_bytes=memory_bytes)
    with tempfile.TemporaryDirectory(dir=folder.parent) as caches:
        request = ProcessRequest(
            name=f"{module} {folder.parent.name}",
            arguments=["-m", module, str(folder), *arguments],
            folder=folder,
            cache_directory=Path(caches),
            cpus=cpus,
            limits=limits,
        )
        return engine.launch(request)


def limits_of(attempt: Attempt, protocol: Protocol) -> ProcessLimits:
    """Returns the limits that a case and the protocol set. A case without a memory limit gets `spare_bytes`: a model
    that is too large must end as a row, not take down the machine or the run."""
    return ProcessLimits(
        timeout_seconds=protocol.timeout_seconds,
        compile_timeout_seconds=protocol.compile_timeout_seconds,
        memory_bytes=attempt.case.limit_memory_bytes or spare_bytes(),
        check_seconds=MEMORY_CHECK_SECONDS if attempt.purpose is Purpose.MEMORY else CHECK_SECONDS,
    )


@functools.cache
def spare_bytes() -> int:
    """Returns the bytes that the machine can give a case, by the kernel's estimate. It is read only once in a run, so
    that every case has the same limit, even while the kernel still frees the memory of the case before."""
    available = facts.memory().get("available_bytes", 2 * RESERVED_BYTES)
    return max(available - RESERVED_BYTES, available // 2)


def tail(path: Path) -> str:
    """Returns the last lines of a log as printable text, at most `TAIL_LINES` and `TAIL_BYTES`; empty if none.

    Of a line that overwrites itself (a progress bar), only the last state is returned.
    """
    try:
        with plain_files.opened(path) as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - 16 * TAIL_BYTES))
            data = file.read()
    except OSError:
        return ""
    text = data.decode("utf-8", "replace").replace("\r\n", "\n")
    drawn = ("\r".join(map(printable, line.split("\r"))) for line in text.split("\n"))
    lines = [line.rstrip("\r").rpartition("\r")[2].rstrip() for line in drawn]
    while lines and not lines[-1]:
        lines.pop()
    end = "\n".join(lines[-TAIL_LINES:]).encode()[-TAIL_BYTES:]
    return end.decode("utf-8", "ignore")
