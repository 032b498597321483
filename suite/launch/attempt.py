"""One attempt from its file to its columns: write ATTEMPT.json, run the worker, judge its end."""

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
from suite.launch.engine import Engine, Job, allocator_environment
from suite.launch.process import CHECK_SECONDS, Limits
from suite.machine import facts
from suite.protocol import Protocol

SCHEMA_VERSION = 1
RESERVED_BYTES = 1 << 30  # for the orchestrator, the engine and the system, beside a case without a limit of its own
MEMORY_CHECK_SECONDS = 0.02  # where nothing is timed: a compiler's peak may be short
ANSWER_BYTES_MAX = 2**28  # of what a reader makes of a process's programs or trace
TAIL_LINES = 20
TAIL_BYTES = 4096


def run_attempt(
    attempt: Attempt,
    *,
    engine: Engine,
    folder: Path,
    protocol: Protocol,
    cpus: Sequence[int],
    gate: bool,
    workload_folder: Path,
    cache_directory: Path,
    environment: str,
    flags: Mapping[str, str] | None = None,
    limits: Limits | None = None,
) -> dict[str, Any]:
    """Run one attempt in `folder` and return its columns of the row, by name.

    `engine` runs workers of the locked `environment`; `flags` are a variant's own variables.
    Without `limits` they are those of `limits_of`.
    Whatever becomes of the worker is in the columns; only OSError (the folder can't be written)
    and KeyboardInterrupt (after everything was ended) come out as exceptions.
    """
    plain_files.clear(folder)  # of the same attempt, cut short by a lost session
    folder.mkdir(parents=True)
    folder, workload_folder, cache_directory = (path.resolve() for path in (folder, workload_folder, cache_directory))
    question = {
        "schema_version": SCHEMA_VERSION,
        "attempt": attempt.to_json(),
        "protocol": dataclasses.asdict(protocol),
        "cpus": list(cpus),
        "gate": gate,
        "workload_folder": str(workload_folder),
        "cache_directory": str(cache_directory),
        "environment": environment,
        "flags": dict(flags or {}),
    }
    file = folder / "ATTEMPT.json"
    file.write_text(json.dumps(question, indent=1), encoding="utf-8")
    job = Job(
        name=attempt.name,
        arguments=["-m", "suite.worker", str(file), "--out", str(folder)],
        folder=folder,
        reads=[workload_folder],
        cache_directory=cache_directory,
        keep_cache=attempt.case.cache == "warm" or attempt.purpose is Purpose.PRIME,
        cpus=cpus,
        limits=limits or limits_of(attempt, protocol),
        variables=allocator_environment(attempt.case.allocator),
    )
    started_at = datetime.datetime.now(datetime.UTC)
    end = engine.launch(job)
    told = events.read(folder / "events.jsonl")
    stderr_tail = tail(folder / "stderr.log")
    verdict = outcome.judge(end, told, attempt.case.target, stderr_tail)
    return {
        **told.columns,
        **{column: seconds or None for column, seconds in told.samples.items()},
        "metrics": told.metrics,
        **{field.name: getattr(verdict, field.name) for field in dataclasses.fields(verdict)},
        "outcome": str(verdict.outcome),
        "stderr_tail": stderr_tail or None,
        "cgroup_peak_bytes": end.peak_bytes_cgroup,
        "cgroup_anonymous_bytes": end.peak_bytes_anonymous,
        "started_at": started_at,
        **engine.columns,
    }


def run_reader(
    module: str, folder: Path, answer: str, *, engine: Engine, protocol: Protocol, cpus: Sequence[int]
) -> str:
    """The file that a program makes of what a process has left in a folder. Raises UserError, in words that complete a
    sentence, where it makes none, and where the process has left anything but files and folders: the program would
    follow a link, and what it read there would be kept. `engine` runs the environment that the program needs.
    """
    try:
        plain_files.check_tree(folder)
    except OSError as odd:
        raise UserError(f"couldn't be read: {odd.strerror}: {odd.filename}") from None
    folder = folder.resolve()
    plain_files.clear(folder / answer)
    limits = Limits(timeout_seconds=protocol.timeout_seconds, compile_timeout_seconds=protocol.timeout_seconds)
    with tempfile.TemporaryDirectory(dir=folder.parent) as caches:
        job = Job(
            name=f"reading {folder.parent.name}",
            arguments=["-m", module, str(folder)],
            folder=folder,
            reads=[],
            cache_directory=Path(caches),
            keep_cache=False,
            cpus=cpus,
            limits=limits,
            variables={},
        )
        end = engine.launch(job)
    if end.exit_code == 0:
        return plain_files.read(folder / answer, ANSWER_BYTES_MAX).decode("utf-8")
    last = tail(folder / "stderr.log").splitlines()[-1:] or [end.problem or f"the reader exited {end.exit_code}"]
    raise UserError(f"couldn't be read: {last[0]}")


def limits_of(attempt: Attempt, protocol: Protocol) -> Limits:
    """The limits that a case and the protocol ask for. Without one for memory, the machine's own needs are kept free:
    a model that is too large must end as a row, not take down the machine (or the run itself) with it."""
    return Limits(
        timeout_seconds=protocol.timeout_seconds,
        compile_timeout_seconds=protocol.compile_timeout_seconds,
        memory_bytes=attempt.case.limit_memory_bytes or spare_bytes(),
        check_seconds=MEMORY_CHECK_SECONDS if attempt.purpose is Purpose.MEMORY else CHECK_SECONDS,
    )


@functools.cache
def spare_bytes() -> int:
    """What the machine can give a case, by the kernel's estimate. Asked once: verdicts about memory are compared, so
    every case of a run has the same limit, also where the kernel is still busy with what the last one left."""
    return max(facts.memory().get("available_bytes", 0) - RESERVED_BYTES, RESERVED_BYTES)


def tail(path: Path) -> str:
    """The last lines of a log as printable text, at most `TAIL_LINES` and `TAIL_BYTES`; empty if none.

    Of a line that was drawn over itself (a progress bar), only the last state counts.
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
    kept = "\n".join(lines[-TAIL_LINES:]).encode()[-TAIL_BYTES:]
    return kept.decode("utf-8", "ignore")
