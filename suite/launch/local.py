"""The local engine: each worker is a process of this machine under its own supervisor process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from suite.guard import plain_files
from suite.launch.engine import ROOT, Engine, ProcessRequest, supervisor_spec, worker_environment
from suite.launch.process import EXIT_FILE, Exit, ProcessLimits


class Local(Engine):
    """Runs workers of one virtual environment, or of an interpreter that no lock pins (`lock_sha256` None)."""

    def __init__(self, python: Path, lock_sha256: str | None = None) -> None:
        # Not resolved: a virtual environment's interpreter is a link, and starting its target would leave it.
        self.python = str(python.absolute())
        self.columns = {"engine": "local", "lock_sha256": lock_sha256}

    def warm_up(self, code: str) -> None:
        can_run(self.python, code)

    def launch(self, request: ProcessRequest) -> Exit:
        variables = worker_environment(os.environ) | dict(request.variables)
        if "CUDA_DEVICE_ORDER" in request.variables:  # one GPU, as in a container: some frameworks claim all they see
            variables["CUDA_VISIBLE_DEVICES"] = variables.get("CUDA_VISIBLE_DEVICES", "0").partition(",")[0]
        variables["TMPDIR"] = str(request.cache_directory)  # what frameworks leave there goes with the cache
        return launch([self.python, *request.arguments], variables, request.folder, request.limits, request.company)


@cache  # a device check has several runs
def can_run(python: str, code: str) -> bool:
    """Runs a statement in an interpreter, once in this program's life. Whether it ended well."""
    words, environment = [python, "-c", code], worker_environment(os.environ)
    return subprocess.run(words, env=environment, capture_output=True, check=False).returncode == 0


def launch(
    command: Sequence[str], environment: Mapping[str, str], directory: Path, limits: ProcessLimits, company: int = 1
) -> Exit:
    """Runs one worker in `directory` to its end, as `Engine.launch` does; waiting takes no processor time. Call it from
    a thread that stays alive meanwhile: the kernel kills the supervisor when that thread ends."""
    plain_files.clear(directory / EXIT_FILE)
    spec = supervisor_spec(command, environment, directory, limits, company=company, parent_pid=os.getpid())
    supervisor = subprocess.Popen(
        [sys.executable, "-S", "-m", "suite.launch.supervisor.supervise"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        cwd=ROOT,
        env={"LANG": "C.UTF-8", "PATH": os.environ.get("PATH", os.defpath)},
        start_new_session=True,  # a terminal's Ctrl-C reaches the orchestrator alone
        encoding="utf-8",
        errors="replace",
    )
    try:
        _, complaint = supervisor.communicate(json.dumps(spec))
    except BaseException:
        _end(supervisor)
        raise
    try:
        return Exit.of(directory, limits)
    except (OSError, ValueError, TypeError) as error:
        words = complaint.strip().splitlines()[-1:] or [f"{type(error).__name__}: {error}"]
        problem = f"the supervisor exited {supervisor.returncode} and left no {EXIT_FILE}: {words[0]}"
        return Exit.lost(problem, limits)


def _end(supervisor: subprocess.Popen[str]) -> None:
    """Has the supervisor kill its process tree, and waits for that even if Ctrl-C is pressed again."""
    while supervisor.poll() is None:
        try:
            supervisor.terminate()
            supervisor.wait()
        except KeyboardInterrupt:
            continue
