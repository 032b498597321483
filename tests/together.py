"""`python -m tests.together run …` is `invoke run …`, but all cases of a stack share one process.

A framework takes seconds to import: where nothing is said of a process's own state, once a stack is enough. All else
is real: plan, worker, rows, page. It doesn't see what only a process of its own shows: its memory, its variables, what
is left after an earlier case.
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import tempfile
from pathlib import Path
from threading import Timer
from time import perf_counter

from suite.cli import app
from suite.launch.engine import ProcessRequest, worker_environment
from suite.launch.local import Local
from suite.launch.process import Exit
from suite.run.start import engines

SHARED = {"OMP_WAIT_POLICY": "PASSIVE"}  # tests share the cores, as in tasks.py


class Process:
    """Of one stack: it takes attempt after attempt."""

    def __init__(self, python: str, job: ProcessRequest) -> None:
        self.home = tempfile.TemporaryDirectory()  # all caches stay: a framework remembers where it has put something
        variables = worker_environment(os.environ) | dict(job.variables) | {"TMPDIR": self.home.name, **SHARED}
        self.process = subprocess.Popen(
            [python, "-m", "tests.worker.serve"],
            env=variables,
            cwd=self.home.name,
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        atexit.register(self.end)

    def end(self) -> None:
        """With all that it has left."""
        self.process.kill()
        self.process.wait()
        self.home.cleanup()

    @property
    def lives(self) -> bool:
        """Whether it can take another attempt."""
        return self.process.poll() is None

    def answer(self, job: ProcessRequest) -> dict[str, int | None]:
        """How the attempt ended: by an exit code, or with the process, killed once its time was over."""
        file = job.folder / "ATTEMPT.json"
        caches = tempfile.mkdtemp(dir=self.home.name)
        file.write_text(json.dumps(json.loads(file.read_text()) | {"cache_directory": caches}))
        assert self.process.stdin is not None and self.process.stdout is not None
        deadline = Timer(job.limits.timeout_seconds, self.process.kill)
        deadline.start()
        try:
            print(job.folder, file=self.process.stdin, flush=True)
            said = self.process.stdout.readline()
        finally:
            deadline.cancel()  # also by Ctrl-C: nothing is to wait for it
        return {"exit_code": int(said), "signal": None} if said else {"exit_code": None, "signal": -self.process.wait()}


class Together(Local):
    """The local engine, with one process for all cases of a stack."""

    def __init__(self, python: Path, lock_sha256: str | None = None) -> None:
        super().__init__(python, lock_sha256)
        self.processes: dict[str, Process] = {}

    def warm_up(self, code: str) -> None:
        """A framework is imported once, and nothing is timed."""

    def launch(self, job: ProcessRequest) -> Exit:
        """By the stack's process; by a new one where that has ended."""
        if "suite.worker" not in job.arguments:
            return super().launch(job)
        stack = json.loads((job.folder / "ATTEMPT.json").read_text())["attempt"]["case"]["stack"]
        if stack not in self.processes or not self.processes[stack].lives:
            self.processes[stack] = Process(self.python, job)
        start = perf_counter()
        end = self.processes[stack].answer(job)
        return Exit(**end, duration_seconds=perf_counter() - start, limits=job.limits)


if __name__ == "__main__":
    engines.Local = Together  # type: ignore[misc]
    app.main()
