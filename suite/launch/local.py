"""The local engine: a worker as a process of this machine, under a supervisor of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from suite import plain_files
from suite.launch.engine import ROOT, Engine, Job, supervisor_spec, worker_environment
from suite.launch.process import EXIT_BYTES_MAX, EXIT_FILE, Exit, Limits


class Local(Engine):
    """Workers of one virtual environment, or of an interpreter that no lock pins (`lock_sha256` None)."""

    def __init__(self, python: Path, lock_sha256: str | None = None) -> None:
        # Not resolved: a virtual environment's interpreter is a link, and the link is what counts.
        self.python = str(python.absolute())
        self.columns = {"engine": "local", "lock_sha256": lock_sha256}

    def warm_up(self, code: str) -> None:
        """If it fails, so will the measured process, and that failure gets a row."""
        variables, _ = worker_environment(os.environ)
        subprocess.run([self.python, "-c", code], env=variables, capture_output=True, check=False)

    def launch(self, job: Job) -> Exit:
        """See `launch` below."""
        variables = worker_environment(os.environ)[0] | dict(job.variables)
        variables["TMPDIR"] = str(job.cache_directory)  # what frameworks leave there goes with the cache
        return launch([self.python, *job.arguments], variables, job.folder, job.limits)


def launch(command: Sequence[str], environment: Mapping[str, str], directory: Path, limits: Limits) -> Exit:
    """Run one worker in `directory` to its end, whichever that is, and say how it ended.

    Leaves stdout.log, stderr.log and exit.json there. Returns only when the worker and all its
    descendants are gone; the wait is blocking and costs nothing. If it is interrupted (Ctrl-C),
    it ends them first and then passes the exception on. Must be called from a thread that
    stays alive meanwhile, since the kernel ties the supervisor's life to it.
    """
    account = directory / EXIT_FILE
    plain_files.clear(account)
    spec = supervisor_spec(command, environment, directory, limits, cgroup=limits.cgroup, parent_pid=os.getpid())
    supervisor = subprocess.Popen(
        [sys.executable, "-S", "-m", "suite.launch.supervise"],
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
        return Exit.from_json(json.loads(plain_files.read(account, EXIT_BYTES_MAX)), limits)
    except (OSError, ValueError, TypeError) as error:
        words = complaint.strip().splitlines()[-1:] or [f"{type(error).__name__}: {error}"]
        problem = f"the supervisor ended with code {supervisor.returncode} and left no account: {words[0]}"
        return Exit.lost(problem, limits)


def _end(supervisor: subprocess.Popen[str]) -> None:
    """Have the supervisor kill its tree, and wait for that even if Ctrl-C is pressed again."""
    while supervisor.poll() is None:
        try:
            supervisor.terminate()
            supervisor.wait()
        except KeyboardInterrupt:
            continue
